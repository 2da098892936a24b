// Writes the list of packages that `trayclaw model install-engine` downloads: names, versions, sizes and SHA-512, from the registry. Run it
// manually after changing the version in core/mind/llm/embedded/engine-place.ts; review and commit the list like code.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { isNeeded } from '../core/features/engine/install-engine.ts';
import { projectRoot } from './files.mjs';

const source = readFileSync(join(projectRoot, 'core/mind/llm/embedded/engine-place.ts'), 'utf8');
const engineVersion = /engineVersion = '([^']+)'/.exec(source)?.[1] ?? '';
const targets = ['linux-x64', 'linux-arm64', 'mac-arm64-metal', 'mac-x64', 'win-x64', 'win-arm64'];
/**
 * The packages imported by the modules of the engine that are loaded; those that only its command line and its compiler need are left out.
 */
const imported =
  `@huggingface/jinja async-retry bytes chalk chmodrp cross-spawn env-var filenamify fs-extra is-unicode-supported lifecycle-utils
  log-symbols nanoid ora pretty-ms proper-lockfile semver simple-git slice-ansi stdout-update strip-ansi which`.split(/\s+/);

const folder = mkdtempSync(join(tmpdir(), 'engine-pins-'));
try {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: { 'node-llama-cpp': engineVersion } }));
  const made = spawnSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], { cwd: folder, stdio: 'ignore' });
  if (made.status !== 0) throw new Error('npm could not resolve the packages');
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const common = [...closure(packages)].sort();
  const lines = [];
  for (const path of common) lines.push(await pin(path, packages[path].version, packages[path].integrity));
  const own = [];
  for (const target of targets)
    own.push(`  '${target}':\n    '${await pin(`node_modules/@node-llama-cpp/${target}`, engineVersion, null)}',`);
  writeFileSync(
    join(projectRoot, 'core/features/engine/pinned-packages.ts'),
    `// Written by build/engine-pins.ts: the packages of the engine. Nothing else is ever installed.

export type PinnedPackage = readonly [path: string, version: string, archiveBytes: number, diskBytes: number, sha512: string];

/** A line each: place, version, bytes to download, bytes on the disk, and the SHA-512 of the archive. */
const common = \`
${lines.join('\n')}\`;

/** The library for each platform. */
const platforms: Readonly<Record<string, string>> = {
${own.join('\n')}
};

/** Those that a platform needs, by its name; empty where there is no library for it. */
export function pinnedPackages(target: string): readonly PinnedPackage[] {
  const library = platforms[target];
  return library === undefined ? [] : [...common.trim().split('\\n'), library].map(read);
}

function read(line: string): PinnedPackage {
  const [path = '', version = '', archiveBytes, diskBytes, sha512 = ''] = line.split(' ');
  return [path, version, Number(archiveBytes), Number(diskBytes), sha512];
}
`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function closure(packages: Record<string, { dependencies?: Record<string, string> }>) {
  const seen = new Set(['node_modules/node-llama-cpp']);
  const resolve = (from: string, name: string) => {
    for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
      const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
      if (packages[path] !== undefined) return path;
      if (at === '') throw new Error(`${name} is not in the lock file`);
    }
  };
  const add = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const name of Object.keys(packages[path]?.dependencies ?? {})) add(resolve(path, name));
  };
  for (const name of imported) add(resolve('node_modules/node-llama-cpp', name));
  return seen;
}

/** `integrity`: as the lock file states it; null to compute it from the archive. */
async function pin(path: string, version: string, integrity: string | null) {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const answer = await fetch(`https://registry.npmjs.org/${name}/-/${name.split('/').at(-1)}-${version}.tgz`);
  if (!answer.ok) throw new Error(`${name}@${version}: ${answer.status}`);
  const archive = Buffer.from(await answer.arrayBuffer());
  const sha512 = createHash('sha512').update(archive).digest('base64');
  const stated = integrity ?? (await statedIntegrity(name, version));
  if (stated !== `sha512-${sha512}`) throw new Error(`${name}@${version} is not what the registry states`);
  return `${path} ${version} ${archive.length} ${diskBytes(gunzipSync(archive))} ${sha512}`;
}

async function statedIntegrity(name: string, version: string) {
  const answer = await fetch(`https://registry.npmjs.org/${name}/${version}`);
  const { dist } = (await answer.json()) as { dist: { integrity: string } };
  return dist.integrity;
}

/** The total size of the files in the archive when unpacked. */
function diskBytes(tar: Buffer) {
  let bytes = 0;
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8);
    const name = tar.toString('utf8', at, at + 100).replace(/\0.*$/s, '');
    if (isNeeded(name.replace('package/', ''))) bytes += size;
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return bytes;
}
