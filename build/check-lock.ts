// `check-lock.ts [--fix] [ROOT]`: checks that the lock file works on every machine. npm leaves two gaps in it, depending on the machine.
// It omits packages of other platforms that it could not see, so `npm ci` fails there. And it drops `gypfile: false`, so npm 10 runs a
// compiler for packages that ship their binaries.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './files.mjs';

type LockEntry = { version?: string; dev?: boolean; gypfile?: boolean; optionalDependencies?: Record<string, string> };

const [root = projectRoot] = process.argv.slice(2).filter((arg) => arg !== '--fix');
const file = join(root, 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8'));
const packages: Record<string, LockEntry> = lock.packages;
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const gaps = [...findMissingPlatforms(), ...findCompilerCalls()];
if (process.argv.includes('--fix') && gaps.length > 0) {
  for (const gap of gaps) gap.mend();
  lock.packages = sortByName(packages);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  process.stdout.write(`mended ${gaps.length} gaps\n`);
} else {
  const loose = findLooseVersions();
  const problems = [...gaps.map((gap) => `${gap.what}; run "node build/check-lock.ts --fix"`), ...loose];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${Object.keys(packages).length} packages, ${problems.length} problems\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

function findMissingPlatforms() {
  return Object.entries(packages).flatMap(([place, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => !packages[`node_modules/${name}`] && !packages[`${place}/node_modules/${name}`])
      .map(([name, version]) => ({
        what: `package-lock.json lacks ${name}, an optional part of ${place}`,
        mend: () => void (packages[`node_modules/${name}`] = platformEntry(name, version, entry.dev === true)),
      })),
  );
}

function findCompilerCalls() {
  return Object.entries(packages)
    .filter(([place, entry]) => place !== '' && entry.gypfile !== false && shipsItsBinaries(place))
    .map(([place, entry]) => ({ what: `package-lock.json lacks "gypfile": false for ${place}`, mend: () => void (entry.gypfile = false) }));
}

function shipsItsBinaries(place: string) {
  const folder = join(root, place);
  if (!existsSync(join(folder, 'binding.gyp'))) return false;
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).gypfile === false;
}

/** Finds versions that are not exact: an older npm could silently choose older releases for them. */
function findLooseVersions() {
  const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
  return Object.entries(wanted)
    .filter(([, version]) => !/^(npm:.+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)))
    .map(([name, version]) => `package.json asks for ${name} ${String(version)}; name one exact version`);
}

/** The entry that npm itself would have written, derived from the package's name: `@oxlint/binding-linux-arm64-musl`. */
function platformEntry(name: string, version: string, dev: boolean) {
  const [os = '', cpu = '', ...abi] = (name.split('/').at(-1) ?? '').replace('binding-', '').split('-');
  const libc = os === 'linux' ? { libc: [abi.join('-').startsWith('musl') ? 'musl' : 'glibc'] } : {};
  return { version, cpu: [cpu], ...(dev ? { dev } : {}), ...libc, optional: true, os: [os] };
}

function sortByName(entries: Record<string, LockEntry>) {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => a.localeCompare(b, 'en')));
}
