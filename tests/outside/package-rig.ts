// The npm package as a user gets it: packed from this checkout and unpacked into an empty project, with the packages npm would install.
// Those are copied from the checkout, so that nothing is downloaded and each has the version of the lock file.

import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
const RUN_WITHIN_MS = 480_000;

interface LockEntry {
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}
export type LockPackages = Readonly<Record<string, LockEntry>>;

export interface Ran {
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment without what npm and the test runner add to it, which a user does not have. */
function plainEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_|VITEST|TRAYCLAW_|TEST$|DEV$|PROD$|MODE$)/i.test(name));
  return { ...Object.fromEntries(own), ...extra };
}

export function run(command: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { cwd, env: plainEnvironment(env), timeout: RUN_WITHIN_MS, maxBuffer: 32e6 };
    execFile(command, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? null), stdout, stderr }),
    );
  });
}

/** The npm that runs this test, under this Node. Started through Node, because only Unix finds a plain `npm` without a shell. */
function npm(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<Ran> {
  const cli = process.env['npm_execpath'] ?? '';
  return /npm-cli\.c?js$/.test(cli) ? run(process.execPath, [cli, ...args], cwd, env) : run('npm', args, cwd, env);
}

export class Stranger {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-stranger-')));
  readonly project = join(this.folder, 'project');
  readonly installed = join(this.project, 'node_modules', 'trayclaw');

  /** Resolves to the path of the tarball; `npm pack` runs the same scripts as `npm publish`. */
  async pack(): Promise<string> {
    const env = { npm_config_cache: join(this.folder, 'npm'), npm_config_offline: 'true', npm_config_update_notifier: 'false' };
    const { code, stderr } = await npm(['pack', '--silent', '--pack-destination', this.folder], projectRoot, env);
    if (code !== 0) throw new Error(`npm pack ended with ${code}: ${stderr.slice(-2000)}`);
    return join(this.folder, readdirSync(this.folder).find((name) => name.endsWith('.tgz')) ?? 'no tarball');
  }

  /**
   * Does what `npm install` of the tarball does: installs the package, its dependencies at the paths of the lock file, and its commands.
   */
  async install(tarball: string): Promise<readonly string[]> {
    mkdirSync(this.installed, { recursive: true });
    const { code, stderr } = await run('tar', ['-xzf', tarball, '-C', this.installed, '--strip-components', '1'], this.folder);
    if (code !== 0) throw new Error(`the tarball could not be unpacked: ${stderr}`);
    const manifest = readJson(join(this.installed, 'package.json')) as { dependencies: object; bin: Record<string, string> };
    const { packages } = readJson(join(projectRoot, 'package-lock.json')) as { packages: LockPackages };
    const places = closure(packages, Object.keys(manifest.dependencies)).filter((place) => isInstalled(packages, place));
    for (const place of places) copyPackage(join(projectRoot, place), join(this.project, place));
    mkdirSync(join(this.project, 'node_modules', '.bin'));
    for (const [name, file] of Object.entries(manifest.bin)) {
      chmodSync(join(this.installed, file), 0o755);
      symlinkSync(join('..', 'trayclaw', file), join(this.project, 'node_modules', '.bin', name));
    }
    writeFileSync(join(this.project, 'package.json'), JSON.stringify({ name: 'stranger', type: 'module', private: true }));
    return places;
  }

  /** Adds development packages that the user installed. */
  addTypesOfNode(): void {
    for (const name of ['@types/node', 'undici-types']) {
      copyPackage(join(projectRoot, 'node_modules', name), join(this.project, 'node_modules', name));
    }
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.project, path), text);
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * The paths of these packages and of all their dependencies, by the rules of node_modules: the nearest folder upwards that has the name.
 */
export function closure(packages: LockPackages, names: readonly string[]): string[] {
  const found = new Set(names.map((name) => `node_modules/${name}`));
  for (const place of found) {
    const entry = packages[place] ?? {};
    const peers = Object.keys(entry.peerDependencies ?? {}).filter((name) => entry.peerDependenciesMeta?.[name]?.optional !== true);
    for (const name of [...Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }), ...peers]) {
      const nearest = upwards(place).find((folder) => packages[`${folder}node_modules/${name}`] !== undefined);
      if (nearest === undefined) throw new Error(`package-lock.json has no ${name}, which ${place} needs`);
      found.add(`${nearest}node_modules/${name}`);
    }
  }
  return [...found].sort();
}

/** `node_modules/a/node_modules/b` → that folder, then `node_modules/a/`, then the root. */
function upwards(place: string): string[] {
  const folders = [`${place}/`];
  for (let at = place.lastIndexOf('node_modules/'); at > 0; at = place.lastIndexOf('node_modules/', at - 1))
    folders.push(place.slice(0, at));
  return [...folders, ''];
}

/** npm omits optional packages of other systems; any other missing package means a broken checkout. */
function isInstalled(packages: LockPackages, place: string): boolean {
  if (existsSync(join(projectRoot, place))) return true;
  if (packages[place]?.optional === true) return false;
  throw new Error(`${place} is not installed; run npm ci`);
}

function copyPackage(from: string, to: string): void {
  const nested = join(from, 'node_modules');
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, filter: (path) => path !== nested });
}

export function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Paths of files below the folder, with forward slashes, with their sizes in bytes. */
export function filesBelow(folder: string): Map<string, number> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [relative(folder, path).replaceAll('\\', '/'), statSync(path).size]));
}
