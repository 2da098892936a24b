// For tests only: commands about skills, identities and prompt files, each with the operation it calls and its output, and a fake
// instance's answers to them.

import type { CapsuleVersion, PromptListing } from '../../core/contracts/features/identity.ts';
import type { SkillPlan } from '../../core/contracts/features/skill-store.ts';
import type { OpHandlers, OpName, OpResult } from '../../core/contracts/ops.ts';
import type { SkillFinding, SkillListing, SkillView } from '../../core/contracts/features/skills.ts';

const skill: SkillListing = {
  name: 'weather',
  description: 'Tells the weather.',
  version: '1.0.0',
  status: 'active',
  replacedBy: null,
  removeAfter: null,
  origin: 'workspace',
  path: '/ws/skills/weather',
  trust: 'none',
  isEnabled: true,
  requirements: [{ kind: 'bin', name: 'curl', isMet: false, hint: 'brew install curl' }],
  tools: ['exec'],
  isOffered: false,
  whyNot: 'Its text is not trusted yet.',
  errors: 1,
  warnings: 0,
  shadowed: [],
};
const finding: SkillFinding = { rule: 'name-form', severity: 'error', message: 'The name must be small letters.', line: 2 };
const view: SkillView = {
  ...skill,
  body: 'Look.',
  license: null,
  compatibility: null,
  homepage: null,
  findings: [finding],
  files: [],
  sha256: 'a',
};
const identity: CapsuleVersion = {
  agentId: 'main',
  version: 2,
  capsule: { role: 'You keep the books.', constraints: ['Never round.'], risk: 'careful', prompts: [] },
  atMs: 1,
  by: 'cli',
  note: 'first',
  reverts: 1,
};
const prompt: PromptListing = {
  name: 'style',
  version: 2,
  versions: [1, 2],
  url: null,
  incoming: { sha256: 'c', text: 'New.' },
  problem: null,
};
const list = { skills: [skill], refused: [{ path: '/x', reason: 'It has no head.', hint: 'Add one.' }], folders: [] };
const linted = { results: [{ name: 'weather', path: '/ws/skills/weather', findings: [finding] }] };
const imported = {
  imported: [{ name: 'weather', path: '/ws/skills/weather', sha256: 'a', converted: true, findings: [] }],
  skipped: list.refused,
};
const removed = { name: 'weather', path: '/ws/skills/weather', callId: 'call_1', unneeded: [] };
const reloaded = { skills: 3, added: ['a'], changed: [], removed: ['b'] };
const difference = { from: 1, to: 2, lines: [{ kind: 'added' as const, text: 'You keep the books.' }] };

const hash = 'a'.repeat(64);
const source = {
  ref: 'team/weather',
  kind: 'index' as const,
  market: 'team',
  from: 'https://team.example/weather.zip',
  publisher: null,
  commit: null,
  archiveSha256: hash,
  verified: 'The archive has the SHA-256 that the market publishes.',
  signer: null,
};
const effect = { kind: 'host' as const, name: 'api.example.net', isDeclared: false, isFound: true };
const danger = {
  rule: 'pipe-to-shell',
  level: 'danger' as const,
  message: 'It runs what it downloads.',
  file: 'run.sh',
  line: 2,
  excerpt: 'x',
};
const plan: SkillPlan = {
  planId: 'evt_1',
  skills: [
    {
      name: 'weather',
      description: 'Tells the weather.',
      version: '2.0.0',
      installed: { version: '1.0.0', sha256: hash, isChanged: false },
      because: ['trip 1.0.0'],
      source,
      sha256: hash,
      license: 'MIT',
      homepage: null,
      isConverted: false,
      deprecation: null,
      requires: [],
      effects: [effect],
      risks: [danger],
      findings: [finding],
      files: [{ path: 'SKILL.md', sha256: hash, sizeBytes: 3 }],
      changes: [{ path: 'SKILL.md', kind: 'changed', lines: [{ kind: 'added', text: 'Look.' }] }],
      body: 'Look.',
    },
  ],
  unchanged: [{ name: 'wind', version: null, reason: 'It is there already.' }],
  isDangerous: true,
};
const searched: OpResult<'skill.search'> = {
  skills: [
    {
      name: 'weather',
      version: '2.0.0',
      description: 'Tells the weather.',
      market: 'team',
      publisher: null,
      verdict: null,
      deprecation: null,
      installed: '1.0.0',
      isInstalled: true,
    },
  ],
  problems: [{ market: 'other', problem: 'It could not be reached.' }],
};
const info: OpResult<'skill.info'> = {
  name: 'weather',
  state: 'not-from-store',
  lock: null,
  usedBy: ['trip'],
  effects: [effect],
  risks: [danger],
};
const outdated: OpResult<'skill.outdated'> = {
  skills: [
    {
      name: 'weather',
      version: '1.0.0',
      newer: '2.0.0',
      latest: '2.0.0',
      state: 'as-installed',
      isPinned: false,
      deprecation: null,
      revoked: null,
      isUnneeded: false,
      problem: null,
    },
  ],
};
const pinned = { name: 'weather', isPinned: true };
const made = { path: '/work-folder/made/weather', files: ['SKILL.md'] };
const tested: OpResult<'skill.test'> = {
  name: 'weather',
  isGood: false,
  findings: [finding],
  risks: [danger],
  effects: [effect],
  run: { runId: 'evl_1', passed: 0, failed: 1, errors: 0, cases: [{ name: 'first', verdict: 'fail', reason: 'It says nothing.' }] },
};
const packed = {
  name: 'weather',
  version: '1.0.0',
  archive: '/work-folder/weather-1.0.0.zip',
  sizeBytes: 10,
  sha256: hash,
  contentSha256: hash,
};
const published = {
  name: 'weather',
  change: 'withdrawn' as const,
  version: '1.0.0',
  index: '/work-folder/market/index.json',
  archive: '/work-folder/market/weather-1.0.0.zip',
  sha256: hash,
};

type Answers = Pick<OpHandlers, `${'skill' | 'identity' | 'prompt'}.${string}` & keyof OpHandlers>;

export const skillAnswers: Answers = {
  'skill.list': () => list,
  'skill.get': () => view,
  'skill.lint': () => linted,
  'skill.import': () => imported,
  'skill.remove': () => removed,
  'skill.trust': () => ({ skills: [skill] }),
  'skill.configure': () => skill,
  'skill.reload': () => reloaded,
  'skill.search': () => searched,
  'skill.plan': () => plan,
  'skill.install': () => ({
    installed: [{ name: 'weather', version: '2.0.0', path: '/ws/skills/weather', sha256: hash }],
    lockFile: '/h/skills-lock.json',
  }),
  'skill.outdated': () => outdated,
  'skill.info': () => info,
  'skill.pin': () => pinned,
  'skill.new': () => made,
  'skill.test': () => tested,
  'skill.pack': () => packed,
  'skill.publish': () => published,
  'identity.get': () => ({ ...identity, text: 'You keep the books.' }),
  'identity.set': () => identity,
  'identity.versions': () => ({ versions: [identity] }),
  'identity.diff': () => difference,
  'identity.revert': () => identity,
  'prompt.list': () => ({ prompts: [prompt] }),
  'prompt.get': () => ({ name: 'style', version: 2, text: 'Text.' }),
  'prompt.set': () => prompt,
  'prompt.refresh': () => ({ prompts: [prompt] }),
  'prompt.versions': () => ({ versions: [{ version: 1, by: 'cli', atMs: 1, url: null }] }),
  'prompt.diff': () => ({ from: 1, to: 2, lines: [{ kind: 'added', text: 'Text.' }] }),
  'prompt.accept': () => prompt,
};

export const skillCommands: readonly { argv: string[]; op: OpName; params: unknown; json: unknown; code?: number; stdin?: string }[] = [
  { argv: ['skills', 'list'], op: 'skill.list', params: {}, json: list },
  { argv: ['skills', 'list', 'the', 'weather'], op: 'skill.list', params: { query: 'the weather' }, json: list },
  { argv: ['skills', 'show', 'weather'], op: 'skill.get', params: { name: 'weather' }, json: view },
  { argv: ['skills', 'lint', 'weather'], op: 'skill.lint', params: { name: 'weather' }, json: linted, code: 1 },
  { argv: ['skills', 'lint', './weather'], op: 'skill.lint', params: { path: '/work-folder/weather' }, json: linted, code: 1 },
  {
    argv: ['skills', 'import', 'weather', '--replace', '--sha256', 'a'.repeat(64)],
    op: 'skill.import',
    params: { path: '/work-folder/weather', sha256: 'a'.repeat(64), replace: true },
    json: imported,
  },
  { argv: ['skills', 'verify', 'weather'], op: 'skill.lint', params: { name: 'weather' }, json: linted, code: 1 },
  { argv: ['skills', 'install', './weather'], op: 'skill.plan', params: { wants: ['/work-folder/weather'] }, json: plan, code: 3 },
  {
    argv: ['skills', 'install', 'team/weather@^1.0.0', '--sha256', 'a'.repeat(64)],
    op: 'skill.plan',
    params: { wants: ['team/weather@^1.0.0'], sha256: 'a'.repeat(64) },
    json: plan,
    code: 3,
  },
  { argv: ['skills', 'update'], op: 'skill.plan', params: { wants: [], update: true }, json: plan, code: 3 },
  { argv: ['skills', 'search', 'weather'], op: 'skill.search', params: { query: 'weather' }, json: searched },
  { argv: ['skills', 'info', 'weather'], op: 'skill.info', params: { name: 'weather' }, json: info },
  { argv: ['skills', 'outdated'], op: 'skill.outdated', params: {}, json: outdated.skills },
  { argv: ['skills', 'pin', 'weather'], op: 'skill.pin', params: { name: 'weather', pinned: true }, json: pinned },
  { argv: ['skills', 'unpin', 'weather'], op: 'skill.pin', params: { name: 'weather', pinned: false }, json: pinned },
  { argv: ['skills', 'new', 'weather', './made'], op: 'skill.new', params: { name: 'weather', into: '/work-folder/made' }, json: made },
  { argv: ['skills', 'test', './weather'], op: 'skill.test', params: { path: '/work-folder/weather' }, json: tested, code: 1 },
  { argv: ['skills', 'pack', './weather'], op: 'skill.pack', params: { path: '/work-folder/weather', out: '/work-folder' }, json: packed }, // prettier-ignore
  {
    argv: ['skills', 'publish', './weather', './market', '--revoke', 'It leaks.'],
    op: 'skill.publish',
    params: { path: '/work-folder/weather', to: '/work-folder/market', revoke: 'It leaks.' },
    json: published,
  },
  { argv: ['skills', 'remove', 'weather'], op: 'skill.remove', params: { name: 'weather' }, json: removed },
  { argv: ['skills', 'trust', 'weather', '--sha256', 'a'], op: 'skill.trust', params: { name: 'weather', sha256: 'a' }, json: [skill] },
  {
    argv: ['skills', 'trust', '--folder', '/s', '--revoke'],
    op: 'skill.trust',
    params: { folder: '/s', trusted: false },
    json: [skill],
  },
  { argv: ['skills', 'enable', 'weather'], op: 'skill.configure', params: { name: 'weather', enabled: true }, json: skill },
  { argv: ['skills', 'disable', 'weather'], op: 'skill.configure', params: { name: 'weather', enabled: false }, json: skill },
  { argv: ['skills', 'reload'], op: 'skill.reload', params: {}, json: reloaded },
  {
    argv: ['identity', 'show', '1', '--agent', 'scout'],
    op: 'identity.get',
    params: { agentId: 'scout', version: 1 },
    json: { ...identity, text: 'You keep the books.' },
  },
  {
    argv: [
      'identity',
      'set',
      '--role',
      'You read.',
      '--style',
      '',
      '--constraint',
      'One.',
      'Two.',
      '--risk',
      'careful',
      '--prompt',
      'style@1',
      '--note',
      'why',
    ],
    op: 'identity.set',
    params: { role: 'You read.', style: '', constraints: ['One.', 'Two.'], risk: 'careful', prompts: ['style@1'], note: 'why' },
    json: identity,
  },
  { argv: ['identity', 'versions'], op: 'identity.versions', params: {}, json: [identity] },
  { argv: ['identity', 'diff', '1', '2'], op: 'identity.diff', params: { from: 1, to: 2 }, json: difference },
  { argv: ['identity', 'revert', '1'], op: 'identity.revert', params: { version: 1 }, json: identity },
  { argv: ['prompts', 'list'], op: 'prompt.list', params: { own: true }, json: [prompt] },
  {
    argv: ['prompts', 'show', 'style', '2'],
    op: 'prompt.get',
    params: { name: 'style', version: 2 },
    json: { name: 'style', version: 2, text: 'Text.' },
  },
  {
    argv: ['prompts', 'versions', 'style'],
    op: 'prompt.versions',
    params: { name: 'style' },
    json: [{ version: 1, by: 'cli', atMs: 1, url: null }],
  },
  {
    argv: ['prompts', 'diff', 'style', '1', '2'],
    op: 'prompt.diff',
    params: { name: 'style', from: 1, to: 2 },
    json: { from: 1, to: 2, lines: [{ kind: 'added', text: 'Text.' }] },
  },
  { argv: ['prompts', 'set', 'style'], op: 'prompt.set', params: { name: 'style', text: 'Text.' }, json: prompt, stdin: 'Text.' },
  { argv: ['prompts', 'refresh', 'style'], op: 'prompt.refresh', params: { name: 'style' }, json: [prompt] },
  { argv: ['prompts', 'accept', 'style', 'c'], op: 'prompt.accept', params: { name: 'style', sha256: 'c' }, json: prompt },
];
