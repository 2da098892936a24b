// The files that build tools without a profile read when they start, although no argument names them.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isInterpreter, nameOf } from './program-names.ts';
import { projectTools } from './command-table.ts';
import { foldersAbove } from './project-files.ts';

const gradle = 'build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties';
const maven = 'pom.xml .mvn/extensions.xml .mvn/jvm.config .mvn/maven.config';
const rake = 'rakefile Rakefile rakefile.rb Rakefile.rb';
const python = 'pyproject.toml setup.cfg tox.ini';

const startFiles: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    ant: 'build.xml',
    bundle: `Gemfile ${rake}`,
    cmake: 'CMakeLists.txt CMakePresets.json CMakeUserPresets.json',
    ctest: 'CTestTestfile.cmake CTestCustom.cmake',
    fab: 'fabfile.py',
    gradle,
    gradlew: gradle,
    grunt: 'Gruntfile.js Gruntfile.cjs Gruntfile.ts Gruntfile.coffee',
    gulp: 'gulpfile.js gulpfile.cjs gulpfile.mjs gulpfile.ts gulpfile.babel.js',
    inv: 'tasks.py',
    invoke: 'tasks.py',
    just: 'justfile Justfile .justfile',
    meson: 'meson.build meson.options meson_options.txt',
    mvn: maven,
    mvnw: maven,
    ninja: 'build.ninja',
    nox: 'noxfile.py',
    pytest: projectTools['pytest']?.bindings.join(' ') ?? '',
    rake,
    scons: 'SConstruct Sconstruct sconstruct',
    task: 'Taskfile.yml Taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml taskfile.yml taskfile.yaml',
    tox: python,
  }).map(([name, files]) => [name, files.split(' ')] as const),
);

/** Includes missing files, which may appear later, and those that exist in parent folders, which these programs search as well. */
export function startFilesOf(argv: readonly string[], cwd: string): readonly string[] {
  const names = calledIn(argv).flatMap((name) => startFiles.get(name) ?? []);
  if (names.length === 0) return [];
  const above = foldersAbove(cwd).slice(1);
  return [...names, ...above.flatMap((folder) => names.map((name) => join(folder, name)).filter((file) => existsSync(file)))];
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
