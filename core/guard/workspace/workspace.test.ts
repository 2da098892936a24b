import { chmodSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isAppError } from '../../contracts/errors.ts';
import type { Grant } from '../../contracts/policy.ts';
import { Workspaces } from './workspace.ts';
import { needs } from '../../../tests/needs.ts';

class Bench {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-workspace-')));
  readonly data = this.folder('person/data');
  readonly configured = this.folder('person/data/workspace');
  readonly project = this.folder('person/project');
  readonly grants: Grant[] = [];
  readonly workspaces = new Workspaces({
    facts: { workspace: this.configured, home: this.data, extraFolders: [] },
    trusted: () => this.grants,
    protectionOf: (real) => (real.endsWith('.ssh') ? 'keys are kept here' : null),
    userHome: join(this.root, 'person'),
    temporaryFolder: this.folder('tmp'),
  });

  constructor() {
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
  }

  folder(path: string): string {
    mkdirSync(join(this.root, path), { recursive: true });
    return join(this.root, path);
  }

  trust(path: string): void {
    const { opens } = this.workspaces.opening(path);
    const match = { kind: 'workspace', tool: 'open_workspace', folder: opens.path, identity: opens.identity } as const;
    this.grants.push({ match, grantId: `grt_${this.grants.length}` } as unknown as Grant);
  }

  state(path: string): string {
    return this.workspaces.look(path).state;
  }
}

const codeOf = (act: () => unknown): string => {
  try {
    act();
    return 'none';
  } catch (cause) {
    return isAppError(cause) ? cause.code : String(cause);
  }
};

test('a folder is new until it is trusted; trust covers its subfolders', () => {
  const bench = new Bench();
  const below = bench.folder('person/project/sub');
  expect([bench.state(bench.project), bench.workspaces.holds(bench.project)]).toEqual(['new', false]);
  bench.trust(bench.project);
  expect([bench.state(bench.project), bench.state(below), bench.state(bench.folder('person/project2'))]).toEqual([
    'trusted',
    'trusted',
    'new',
  ]);
  expect(bench.workspaces.look(below).trustedBy).toBe(bench.project);
});

test('the configured workspace needs no trust; the data folder around it gets none', () => {
  const bench = new Bench();
  expect([bench.state(bench.configured), bench.workspaces.choose(bench.folder('person/data/workspace/a'))]).toEqual(['configured', null]);
  expect([bench.state(bench.data), bench.state(bench.folder('person/data/logs'))]).toEqual(['data', 'data']);
  expect(codeOf(() => bench.workspaces.choose(bench.data))).toBe('invalid_params');
  expect(codeOf(() => bench.workspaces.opening(bench.folder('person/data/logs')))).toBe('denied');
});

test.each([
  ['the root', () => '/'],
  ['the home folder', (bench: Bench) => join(bench.root, 'person')],
  ['a folder around the home folder', (bench: Bench) => bench.root],
  ['the temporary folder', (bench: Bench) => join(bench.root, 'tmp')],
  ['a protected folder', (bench: Bench) => bench.folder('person/project/.ssh')],
  ['a link to the home folder', (bench: Bench) => linkTo(bench, join(bench.root, 'person'))],
] satisfies [string, (bench: Bench) => string][])('%s is refused, even below a trusted folder', (_name, pathOf) => {
  const bench = new Bench();
  bench.trust(bench.project);
  const path = pathOf(bench);
  expect([bench.state(path), codeOf(() => bench.workspaces.choose(path)), codeOf(() => bench.workspaces.contextOf(path))]).toEqual([
    'refused',
    'invalid_params',
    'denied',
  ]);
  expect(codeOf(() => bench.workspaces.opening(realpathSync(path)))).toBe('denied');
});

function linkTo(bench: Bench, target: string): string {
  const link = join(bench.root, 'link');
  symlinkSync(target, link);
  return link;
}

/** Returns a function that reports the state of a folder, with the given data and home folders and nothing protected or trusted. */
function placed({ configured }: Bench, { data, userHome }: { readonly data: string; readonly userHome: string }) {
  const workspaces = new Workspaces({
    facts: { workspace: configured, home: data, extraFolders: [] },
    trusted: () => [],
    protectionOf: () => null,
    userHome,
    temporaryFolder: '/nowhere-else',
  });
  return (path: string): string => workspaces.look(path).state;
}

test('the home folder and its parents are refused if the data folder is elsewhere', () => {
  const bench = new Bench();
  const home = bench.folder('people/me');
  const state = placed(bench, { data: bench.folder('person/data'), userHome: home });
  expect([home, join(bench.root, 'people'), process.platform === 'darwin' ? '/Users' : '/home'].map(state)).toEqual([
    'refused',
    'refused',
    'refused',
  ]);
  expect(state(bench.folder('people/me/project'))).toBe('new');
});

test('a folder that contains the data folder is refused', () => {
  const bench = new Bench();
  const data = bench.folder('person/other/data');
  expect(placed(bench, { data, userHome: '/nowhere' })(bench.folder('person/other'))).toBe('refused');
});

test('a folder that replaces a trusted one is not trusted, even with the same inode', () => {
  const bench = new Bench();
  bench.trust(bench.project);
  renameSync(bench.project, `${bench.project}-before`);
  bench.folder('person/project');
  expect([bench.state(bench.project), bench.workspaces.holds(bench.project)]).toEqual(['replaced', false]);
  expect(codeOf(() => bench.workspaces.contextOf(bench.project))).toBe('denied');
  rmSync(bench.project, { recursive: true });
  renameSync(`${bench.project}-before`, bench.project);
  expect(bench.state(bench.project)).toBe('trusted');
  // ext4 and tmpfs reuse a freed inode for the next folder.
  const before = statSync(bench.project).ino;
  rmSync(bench.project, { recursive: true });
  bench.folder('person/project');
  expect([bench.state(bench.project), typeof before]).toEqual(['replaced', 'number']);
});

test('a trusted path that became a link is not trusted, whatever its target', () => {
  const bench = new Bench();
  const other = bench.folder('person/other');
  bench.trust(bench.project);
  bench.trust(other);
  rmSync(bench.project, { recursive: true });
  symlinkSync(other, bench.project);
  expect([bench.workspaces.look(bench.project).path, bench.workspaces.holds(bench.project)]).toEqual([other, false]);
  expect(codeOf(() => bench.workspaces.contextOf(bench.project))).toBe('denied');
  expect(codeOf(() => bench.workspaces.opening(bench.project))).toBe('denied');
});

test('rejects a file as missing and a relative path as invalid', () => {
  const bench = new Bench();
  writeFileSync(join(bench.project, 'file'), '');
  expect([bench.state(join(bench.project, 'file')), bench.state(join(bench.project, 'gone'))]).toEqual(['missing', 'missing']);
  expect(codeOf(() => bench.workspaces.look('project'))).toBe('invalid_params');
  expect(codeOf(() => bench.workspaces.look('/a\0b'))).toBe('invalid_params');
  expect(codeOf(() => bench.workspaces.choose(join(bench.project, 'gone')))).toBe('not_found');
});

test('the context of a session adds its folder to the configured one', () => {
  const bench = new Bench();
  bench.trust(bench.project);
  expect(bench.workspaces.contextOf(null)).toEqual({ workspace: bench.configured, home: bench.data, extraFolders: [] });
  expect(bench.workspaces.contextOf(bench.project)).toMatchObject({ workspace: bench.project, configuredWorkspace: bench.configured });
});

test('warns before trusting a folder that other users can write to', needs('a Unix system'), () => {
  const bench = new Bench();
  const { risks } = bench.workspaces.look(bench.project);
  chmodSync(bench.project, 0o777);
  expect(bench.workspaces.look(bench.project).risks).toHaveLength(risks.length + 1);
});

test('finds the opened folder in, around or at which calls may write', () => {
  const bench = new Bench();
  const skills = bench.folder('person/project/skills');
  expect(bench.workspaces.openedAround(skills)).toBeNull();
  bench.trust(bench.project);
  const open = (path: string): string | null => bench.workspaces.openedAround(path);
  expect([open(skills), open(bench.project), open(join(bench.root, 'person'))]).toEqual([bench.project, bench.project, bench.configured]);
  expect(open(bench.folder('person/project2'))).toBeNull();
});
