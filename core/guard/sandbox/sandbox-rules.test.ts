import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { configProblem } from '../../base/git-settings.ts';
import { configSchema } from '../../contracts/config.ts';
import { bubblewrapArguments } from './bubblewrap-line.ts';
import { protectionOfName } from './protected-names.ts';
import { accessOf, createPolicy, foldersWith, passEnvironment, type SandboxPolicy } from './sandbox-policy.ts';
import { createSyscallFilter } from './syscall-filter.ts';

const kept = { isOwnFolder: () => false, as: 'kept' } as const;

test.each([
  ['[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n', null],
  [
    '[remote "origin"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n',
    null,
  ],
  ['# note\n; note\n[user]\n\tname = A B\n\temail = a@b\n', null],
  ['[core]\n\tfsmonitor = ./evil\n', 'core.fsmonitor'],
  ['[core]\n\thooksPath = x\n', 'core.hookspath'],
  ['[CORE]\n\tSshCommand = x\n', 'core.sshcommand'],
  ['[include]\n\tpath = ../x\n', 'include.path'],
  ['[includeIf "gitdir:/"]\n\tpath = ../x\n', 'includeif.gitdir:/.path'],
  ['[filter "x"]\n\tclean = evil\n', 'filter.x.clean'],
  ['[alias]\n\tst = !evil\n', 'alias.st'],
  ['[remote "o"]\n\turl = ext::sh -c evil\n', 'remote.o.url'],
  ['[remote "o"]\n\turl = "ext::sh"\n', 'remote.o.url'],
  ['[remote "o"]\n\tuploadpack = evil\n', 'remote.o.uploadpack'],
  ['[core] fsmonitor = evil\n', 'core.fsmonitor'],
  ['[user]\n\tname = a \\\n[core]\n', 'a setting that cannot be read'],
  ['[remote "o"]\n\turl = e"xt"::sh -c evil\n', 'remote.o.url'],
])('accepts a git configuration only if it names nothing that is run: %j', (text, expected) => {
  expect(configProblem(text, kept)).toBe(expected);
});

test('finds any unknown setting, whatever its case', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,10}$/);
  fc.assert(
    fc.property(name, name, (section, key) => {
      fc.pre(
        !'core extensions remote branch user init pull push color column gui advice pack gc diff log status'.split(' ').includes(section),
      );
      return configProblem(`[core]\n\tbare = false\n[${section}]\n\t${key} = x\n`, kept) === `${section}.${key}`;
    }),
  );
});

test('protects key files and auto-run names in any case, but not samples', () => {
  const kinds = [
    '.env',
    '.ENV',
    '.env.local',
    '.envrc',
    'id_rsa',
    'id_ed25519.old',
    '.ssh',
    '.bashrc',
    '.gitconfig',
    '.env.example',
    'id_rsa.pub',
    'env',
    '.github',
    '.gitignore',
  ];
  expect(Object.fromEntries(kinds.map((name) => [name, protectionOfName(name)?.kind ?? null]))).toEqual({
    '.env': 'secret',
    '.ENV': 'secret',
    '.env.local': 'secret',
    '.envrc': 'secret',
    id_rsa: 'secret',
    'id_ed25519.old': 'secret',
    '.ssh': 'secret',
    '.bashrc': 'code',
    '.gitconfig': 'code',
    '.env.example': null,
    'id_rsa.pub': null,
    env: null,
    '.github': null,
    '.gitignore': null,
  });
});

/** A machine that evaluates one call like the kernel's interpreter (bpf(4), seccomp(2)). */
function judge(filter: Buffer, call: { architecture: number; number: number; first?: number }): number {
  const words: Readonly<Record<number, number>> = { 0: call.number, 4: call.architecture, 16: call.first ?? 0 };
  let value = 0;
  for (let at = 0; at * 8 < filter.length; at++) {
    const code = filter.readUInt16LE(at * 8);
    const [ifTrue, ifFalse, operand] = [filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3), filter.readUInt32LE(at * 8 + 4)];
    if (code === 0x06) return operand;
    if (code === 0x20) value = words[operand] ?? 0;
    else {
      const holds = code === 0x15 ? value === operand : code === 0x35 ? value >= operand : (value & operand) !== 0;
      at += holds ? ifTrue : ifFalse;
    }
  }
  throw new Error('the program fell off its end');
}

test.each([
  ['x64', 0xc000_003e, { socket: 41, clone: 56, unshare: 272, setns: 308, keyctl: 250, read: 0 }],
  ['arm64', 0xc000_00b7, { socket: 198, clone: 220, unshare: 97, setns: 268, keyctl: 219, read: 63 }],
] as const)(
  'the filter for %s refuses sockets that are not of its network, key ring, io_uring and user namespaces, and lets the rest pass',
  (machine, architecture, numbers) => {
    const filter = createSyscallFilter(machine) ?? Buffer.alloc(0);
    const [allow, refuse, missing, kill] = [0x7fff_0000, 0x0005_0001, 0x0005_0026, 0x8000_0000];
    const call = (number: number, first?: number): number =>
      judge(filter, { architecture, number, ...(first === undefined ? {} : { first }) });
    expect([1, 2, 10, 16].map((family) => call(numbers.socket, family))).toEqual([refuse, allow, allow, allow]);
    // Packets, the kernel's ciphers, and the host of a virtual machine, which no network namespace keeps away.
    expect([0, 17, 38, 40, 44].map((family) => call(numbers.socket, family))).toEqual([refuse, refuse, refuse, refuse, refuse]);
    expect([
      call(numbers.clone, 0x1000_0011),
      call(numbers.clone, 0x11),
      call(numbers.unshare, 0x1000_0000),
      call(numbers.unshare, 0x400),
    ]).toEqual([refuse, allow, refuse, allow]);
    expect([call(numbers.setns), call(numbers.keyctl), call(425), call(426), call(427), call(435)]).toEqual([
      refuse,
      refuse,
      refuse,
      refuse,
      refuse,
      missing,
    ]);
    expect([call(numbers.read), call(1000)]).toEqual([allow, allow]);
    expect(judge(filter, { architecture: 0x4000_0003, number: numbers.read })).toBe(kill);
  },
);

test('the filter covers x32 calls, and there is none for an unknown machine', () => {
  const filter = createSyscallFilter('x64') ?? Buffer.alloc(0);
  expect(judge(filter, { architecture: 0xc000_003e, number: 0x4000_0000 + 41, first: 1 })).toBe(0x0005_0026);
  expect(createSyscallFilter('mips')).toBe(null);
});

function openPolicy(sandbox: Parameters<typeof configSchema.parse>[0], workspace = 'person/trayclaw/workspace') {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-policy-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const path of [
    'person/trayclaw/workspace',
    'person/.ssh',
    'person/papers/private',
    'person/.cargo/bin',
    'person/.nvm/versions/node/v1/bin',
  ])
    mkdirSync(join(root, path), { recursive: true });
  for (const file of ['.netrc', 'papers/diary', 'papers/notes']) writeFileSync(join(root, 'person', file), 'x');
  const facts = { workspace: join(root, workspace), home: join(root, 'person/trayclaw'), extraFolders: [] };
  const { sandbox: config } = configSchema.parse({ sandbox });
  const environment = { PATH: `/usr/bin:${root}/person/.nvm/versions/node/v1/bin:${root}/person:relative` };
  const policy = createPolicy(config, { facts, userHome: join(root, 'person'), environment });
  return { root, policy, access: (path: string) => accessOf(join(root, path), policy) };
}

const bareRun = (root: string) => ({
  places: [],
  cwd: join(root, 'person/trayclaw/workspace'),
  temporaryFolder: '/run/t',
  instanceFolder: '/run',
  environment: { A: '1' },
  keepsNetwork: false,
  filterDescriptor: 9,
});

test('applies the nearest rule, and hides keys whatever is opened around them', () => {
  const usual = openPolicy({});
  const paths = [
    'person',
    'person/.ssh',
    'person/trayclaw',
    'person/trayclaw/workspace/x',
    'person/.cargo/bin',
    'person/.nvm/versions/node/v1/lib',
    'person/papers',
  ];
  expect(paths.map((path) => usual.access(path))).toEqual(['hidden', 'hidden', 'hidden', 'write', 'read', 'read', 'hidden']);
  expect(accessOf('/usr/bin', usual.policy)).toBe('read');
  expect(accessOf('/tmp/x', usual.policy)).toBe('temporary');

  const wide = openPolicy({ files: { read: ['~'], write: ['~/papers'], deny: ['~/papers/private'] } });
  expect([...paths, 'person/papers/private'].map((path) => wide.access(path))).toEqual([
    'read',
    'hidden',
    'hidden',
    'write',
    'read',
    'read',
    'write',
    'hidden',
  ]);

  const around = openPolicy({}, 'person');
  expect(['person', 'person/.ssh', 'person/trayclaw'].map((path) => around.access(path))).toEqual(['write', 'hidden', 'hidden']);
});

test('hides a key file in an open folder, and closes it when a command starts', () => {
  const files = (policy: SandboxPolicy, root: string) => policy.hiddenFiles.filter((path) => path.startsWith(`${root}/`));
  for (const open of [
    openPolicy({ files: { read: ['~'], deny: ['~/papers/diary'] } }),
    openPolicy({ files: { deny: ['~/papers/diary'] } }, 'person'),
  ]) {
    const { policy, root } = open;
    const hidden = ['person/.netrc', 'person/papers/diary'].map((path) => join(root, path));
    expect(files(policy, root)).toEqual(hidden);
    const args = bubblewrapArguments({ ...bareRun(root), policy }).join(' ');
    expect(hidden.filter((path) => !args.includes(`--ro-bind /dev/null ${path}`))).toEqual([]);
    expect(args).not.toContain('papers/notes');
  }
  // If the whole folder is hidden, no file in it needs to be closed.
  const { policy, root } = openPolicy({});
  expect(bubblewrapArguments({ ...bareRun(root), policy }).filter((word) => word.endsWith('.netrc'))).toEqual([]);
});

test('resolves folders to real paths and matches denied patterns below the workspace', () => {
  const { root, policy } = openPolicy({ files: { deny: ['*.key', 'sub/deep'], write: ['~/papers'] } });
  symlinkSync(join(root, 'person/papers'), join(root, 'person/link'));
  const workspace = join(root, 'person/trayclaw/workspace');
  expect(foldersWith('write', policy)).toEqual([join(root, 'person/papers'), workspace]);
  expect(
    [`${workspace}/a/b.key`, `${workspace}/.b.key`, `${workspace}/sub/deep`, `${workspace}/sub`, '/elsewhere/b.key'].map(policy.isDenied),
  ).toEqual([true, true, true, false, false]);
});

test('reduces an environment to the names of the list', () => {
  expect(passEnvironment(['A', 'LC_*'], { A: '1', AB: '2', LC_ALL: 'C', LC: 'x', B: '3', LC_X: undefined })).toEqual({
    A: '1',
    LC_ALL: 'C',
  });
});

test('mounts folders from the top down, then protected places, and closes hidden ones', () => {
  const { root, policy } = openPolicy({});
  const workspace = join(root, 'person/trayclaw/workspace');
  const place = { kind: 'code', isFolder: true, reason: '', stamp: '', git: 'hooks', mayAppear: false, link: null } as const;
  const args = bubblewrapArguments({ ...bareRun(root), policy, places: [{ ...place, path: `${workspace}/a/.git/hooks` }] });
  const at = (...words: string[]): number => args.findIndex((_, index) => words.every((word, n) => args[index + n] === word));
  const order = [
    at('--ro-bind', '/', '/'),
    at('--remount-ro', '/proc'),
    at('--bind', '/run/t', '/tmp'),
    at('--tmpfs', join(root, 'person')),
    at('--bind', workspace, workspace),
    at('--ro-bind', `${workspace}/a`, `${workspace}/a`),
    at('--ro-bind', `${workspace}/a/.git`, `${workspace}/a/.git`),
    args.lastIndexOf(workspace, args.indexOf('--chdir') - 1),
    at('--ro-bind', `${workspace}/a/.git/hooks`, `${workspace}/a/.git/hooks`),
    at('--remount-ro', join(root, 'person')),
    at('--clearenv', '--setenv', 'A', '1', '--chdir', workspace, '--'),
  ];
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(order.every((index) => index >= 0)).toBe(true);
  expect(
    ['--unshare-net', '--unshare-user', '--unshare-pid', '--new-session', '--die-with-parent'].filter((flag) => !args.includes(flag)),
  ).toEqual([]);
});

test('a denied pattern in a form that would match too little is refused', () => {
  const deny = (pattern: string): boolean => configSchema.safeParse({ sandbox: { files: { deny: [pattern] } } }).success;
  expect(['**/*.pem', '*.{key,pem}', '/data/a (old)/x', '+(a|b).pem', 'x/!(y)', ''].map(deny)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});
