// The files that build tools without a profile read when they start, although no argument names them, and those that these include.

import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { projectTools } from './command-table.ts';
import { includedBy } from './included-files.ts';
import { isInterpreter, nameOf } from './program-names.ts';
import { foldersAbove, foldersBelow } from './project-files.ts';

const gradle = 'build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties';
const make = projectTools['make']?.bindings.join(' ') ?? '';
const maven = 'pom.xml .mvn/extensions.xml .mvn/jvm.config .mvn/maven.config';
const rake = 'rakefile Rakefile rakefile.rb Rakefile.rb';
const python = 'pyproject.toml setup.cfg tox.ini';

const startFiles: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    ant: 'build.xml',
    bundle: `Gemfile ${rake}`,
    cargo: 'Cargo.toml build.rs .cargo/config.toml',
    cmake: 'CMakeLists.txt CMakePresets.json CMakeUserPresets.json',
    ctest: 'CTestTestfile.cmake CTestCustom.cmake',
    fab: 'fabfile.py',
    gmake: make,
    gradle,
    gradlew: gradle,
    grunt: 'Gruntfile.js Gruntfile.cjs Gruntfile.ts Gruntfile.coffee',
    gulp: 'gulpfile.js gulpfile.cjs gulpfile.mjs gulpfile.ts gulpfile.babel.js',
    inv: 'tasks.py',
    invoke: 'tasks.py',
    just: 'justfile Justfile .justfile',
    make,
    meson: 'meson.build meson.options meson_options.txt',
    mvn: maven,
    mvnw: maven,
    ninja: 'build.ninja',
    nox: 'noxfile.py',
    npm: 'package.json',
    pnpm: 'package.json',
    pytest: projectTools['pytest']?.bindings.join(' ') ?? '',
    rake,
    scons: 'SConstruct Sconstruct sconstruct',
    task: 'Taskfile.yml Taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml taskfile.yml taskfile.yaml',
    tox: python,
    yarn: 'package.json',
  }).map(([name, files]) => [name, files.split(' ')] as const),
);

/** Flags whose value is the file to start from. */
const definer = /^(?:-[cf]|--?(?!log)[\w-]*(?:file|config|path))$/i;
/** A value attached to a flag: `--directory=sub`, `-Csub`. */
const attached = /^(?:(--?[\w-]+)=|(-[A-Za-z])(?=[^-=]))(.+)$/;

/** Includes missing files, which may appear later, and those that exist in parent folders, which these programs search as well. */
export function startFilesOf(argv: readonly string[], cwd: string): readonly string[] {
  const called = calledIn(argv);
  const names = called.flatMap((name) => startFiles.get(name) ?? []);
  if (names.length === 0) return [];
  const named = placesNamed(argv.slice(1), cwd);
  const folders = [...new Set([cwd, ...named.folders])];
  const inFolders = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const above = folders.flatMap(foldersAbove).flatMap((folder) => names.map((name) => join(folder, name)));
  const nested = called.includes('pytest') ? folders.flatMap(foldersBelow).map((folder) => join(folder, 'conftest.py')) : [];
  const files = [...new Set([...named.files, ...above, ...nested])].filter((file) => existsSync(file));
  return [...inFolders, ...includedBy({ files, folders, names, isMake: called.some((name) => /^g?make$/.test(name)) })];
}

/** The folders that arguments name, such as `-C sub`, and the files that flags name to start from. */
function placesNamed(args: readonly string[], cwd: string): { readonly folders: string[]; readonly files: string[] } {
  const folders: string[] = [];
  const files: string[] = [];
  for (const [at, word] of args.entries()) {
    const [, long, short, value] = attached.exec(word) ?? [];
    const flag = long ?? short ?? args[at - 1] ?? '';
    const path = resolve(cwd, (value ?? word).replace(/::.*/, ''));
    const kind = kindOf(path);
    if (kind === 'file' && definer.test(flag)) files.push(path);
    if (kind !== null) folders.push(kind === 'folder' ? path : dirname(path));
  }
  return { folders: [...new Set(folders)].slice(0, FOLDERS_MAX), files };
}

const FOLDERS_MAX = 8;

function kindOf(path: string): 'folder' | 'file' | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? null : stat.isDirectory() ? 'folder' : 'file';
  } catch {
    // Part of the path is a file.
    return null;
  }
}

/** The program, and the one that it starts: `python -m pytest`, `python -Impytest`, `uv run tox`, `bundle exec rake`. */
function calledIn([program = '', ...args]: readonly string[]): readonly string[] {
  const starter = isInterpreter(program) ? /^-[A-Za-z]*?m/ : /^(?:run|exec)$/;
  const at = args.findIndex((word) => starter.test(word));
  const started = at < 0 ? '' : args[at]?.replace(starter, '') || (args[at + 1] ?? '');
  return [program, started].map((word) =>
    nameOf(word)
      .replace(/\.(?:cmd|bat)$/i, '')
      .toLowerCase(),
  );
}
