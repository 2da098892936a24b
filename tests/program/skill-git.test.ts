// Skills from git repositories, through git's own server: the commit of a branch or tag is resolved, locked and fetched again; changes are
// shown; links, submodules and LFS files are refused.

import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SkillPlan } from '../../core/contracts/features/skill-store.ts';
import type { TrayClaw } from '../../core/index.ts';
import { commitFiles, git, serveGit, type GitServer } from '../doubles/git/git-server.ts';
import { TestHome } from '../faults/test-home.ts';

let home: TestHome;
let root: string;
let server: GitServer;

beforeEach(async () => {
  home = new TestHome();
  root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-git-')));
  server = await serveGit(root);
});
afterEach(async () => {
  await home.dispose();
  server.close();
  rmSync(root, { recursive: true, force: true });
});

const open = (where = home): Promise<TrayClaw> => where.open({ config: { skills: { markets: [{ name: 'team', url: `${server.url}/index.json` }] } } }); // prettier-ignore
const repository = (): string => join(root, 'team');
const address = (rest: string): string => `${server.url}/team.git#${rest}`;
const skill = (name: string, body: string, version = '1.0.0'): string =>
  `---\nname: ${name}\ndescription: Does the work of ${name} for a test.\nmetadata:\n  version: "${version}"\n---\n\n# ${name}\n\n${body}\n`;
const rulesOf = (plan: SkillPlan): string[] =>
  plan.skills.flatMap(({ risks }) => risks.flatMap(({ rule, level }) => (rule === 'no-encryption' ? [] : [`${level} ${rule}`])));

async function install(claw: TrayClaw, want: string): Promise<SkillPlan> {
  const plan = await claw.op('skill.plan', { wants: [want] });
  if (plan.planId !== null) await claw.op('skill.install', { planId: plan.planId });
  return plan;
}

/** Long and similar texts, so that git sends the second as a delta of the first. */
const long = Array.from({ length: 400 }, (_, at) => `Line ${at} of a long text, ${(at * 7919) % 1009}.`).join('\n');

function twoSkills(): string {
  const files = { 'README.md': 'Skills.\n', 'kept/notes/SKILL.md': skill('notes', 'Read the notes.'), 'kept/notes/a.txt': long };
  return commitFiles(repository(), { ...files, 'kept/notes/b.txt': `${long}\nMore.`, 'kept/other/SKILL.md': skill('other', 'Else.') });
}

test('a tag is resolved to its commit, locked, and fetched again on another machine', async () => {
  const commit = twoSkills();
  git(repository(), 'tag', '--annotate', 'v1', '--message', 'One');
  git(repository(), 'repack', '-adfq');
  commitFiles(repository(), { 'kept/notes/SKILL.md': skill('notes', 'Read them twice.') });
  const claw = await open();
  const [shown] = (await install(claw, address('kept/notes@v1'))).skills;
  expect(shown?.source).toMatchObject({ kind: 'git', from: address('kept/notes'), commit, archiveSha256: null });
  expect(shown?.source.verified).toBe(`Its files are those of v1, now commit ${commit}.`);
  expect(readFileSync(join(home.workspace, 'skills/notes/b.txt'), 'utf8')).toBe(`${long}\nMore.`);
  expect(existsSync(join(home.workspace, 'skills/notes/README.md'))).toBe(false);
  git(repository(), 'tag', '--force', 'v1');
  const moved = await claw.op('skill.plan', { wants: [address('kept/notes@v1')] });
  expect(rulesOf(moved)).toEqual(['danger moved-tag', 'danger same-version']);
  const other = new TestHome();
  try {
    const there = await open(other);
    const again = await there.op('skill.plan', { lock: join(home.path, 'skills-lock.json') });
    expect(again.skills).toMatchObject([{ name: 'notes', sha256: shown?.sha256, source: { commit } }]);
  } finally {
    await other.dispose();
  }
});

test('a branch with a new commit is outdated, and its update shows what changed', async () => {
  twoSkills();
  const claw = await open();
  await install(claw, address('notes@main'));
  expect((await claw.op('skill.outdated', {})).skills).toMatchObject([{ name: 'notes', newer: null, problem: null }]);
  const now = commitFiles(repository(), { 'kept/notes/SKILL.md': skill('notes', 'Read them twice.', '1.1.0') });
  expect((await claw.op('skill.outdated', {})).skills).toMatchObject([{ newer: `commit ${now.slice(0, 12)}` }]);
  const update = await claw.op('skill.plan', { wants: [], update: true });
  expect([rulesOf(update), update.skills[0]?.source.commit]).toEqual([['note other-commit'], now]);
  expect(update.skills[0]?.changes.map(({ path }) => path)).toEqual(['SKILL.md']);
});

test('links, submodules, LFS files and missing paths are refused; nothing is written', async () => {
  twoSkills();
  const claw = await open();
  const refused = (why: string) => ({ message: expect.stringContaining(why) as string });
  await expect(install(claw, address(''))).rejects.toMatchObject({ code: 'invalid_params', data: { hint: expect.stringContaining('#kept/notes') as string } }); // prettier-ignore
  await expect(install(claw, address('notes@v9'))).rejects.toMatchObject({ code: 'not_found' });
  await expect(install(claw, address(`notes@${'0'.repeat(40)}`))).rejects.toMatchObject(refused('not our ref'));
  await expect(install(claw, 'git@host.example:team.git')).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(install(claw, 'git+ssh://host.example/team.git')).rejects.toMatchObject({ code: 'invalid_params' });
  commitFiles(repository(), { 'kept/notes/link': '-> /etc/passwd' });
  await expect(install(claw, address('notes'))).rejects.toMatchObject(refused('is a link'));
  commitFiles(repository(), { 'kept/notes/link': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n' });
  await expect(install(claw, address('notes'))).rejects.toMatchObject(refused('Git LFS'));
  commitFiles(join(repository(), 'kept/notes/below'), { 'x.txt': 'x' });
  commitFiles(repository(), { 'kept/notes/link': null });
  await expect(install(claw, address('notes'))).rejects.toMatchObject(refused('is a submodule'));
  await install(claw, address('other'));
  expect(existsSync(join(home.workspace, 'skills/notes'))).toBe(false);
});

test('hooks, filters and settings of the repository run nothing; false objects fail', async () => {
  const marker = join(root, 'ran');
  twoSkills();
  const filtered = { '.gitattributes': '* filter=evil\n', '.gitmodules': '[submodule "x"]\n\tupdate = !touch ran\n' };
  commitFiles(repository(), filtered);
  git(repository(), 'config', 'filter.evil.smudge', `touch ${marker}`);
  writeFileSync(join(repository(), '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
  const claw = await open();
  await install(claw, address('other'));
  expect(existsSync(marker)).toBe(false);
  server.alter = (body) => {
    const at = body.indexOf('PACK');
    if (at > 0) body[at + 20] = (body[at + 20] ?? 0) ^ 1;
    return body;
  };
  await expect(install(claw, address('notes'))).rejects.toMatchObject({ code: 'denied', message: expect.stringContaining('damaged') as string }); // prettier-ignore
  await home.dispose();
  home = new TestHome();
  await expect(install(await home.open({}), address('other'))).rejects.toMatchObject({ code: 'address_refused' });
});
