// The features that the kernel gives to every command: fields for pipes, the next page, confirmation of irreversible actions.

import { expect, test } from 'vitest';
import { FakeClaw } from '../../../../tests/doubles/fake-claw.ts';
import { atTerminal, fakeParts, foundInstance, runCommand, type Ran } from '../../../../tests/doubles/fake-terminal.ts';
import * as z from 'zod';
import { AppError, noTurn } from '../../../contracts/errors.ts';
import type { RowsForm } from '../../../contracts/command-form.ts';
import { opForms } from '../../../contracts/op-forms.ts';
import { opTable, type OpHandlers, type OpName, type OpResult } from '../../../contracts/ops.ts';
import { opEntries } from './entries.ts';

type Info = OpResult<'session.list'>['sessions'][number];

function withSessions(titles: readonly string[], nextCursor: string | null = null): FakeClaw {
  const claw = new FakeClaw();
  const sessions = titles.map((title, at): Info => ({ ...claw.sessionInfo(`ses_${at}`), title }));
  claw.answers = { 'session.list': () => ({ sessions, nextCursor }) };
  return claw;
}

function run(claw: FakeClaw, ...argv: readonly string[]): Promise<Ran> {
  return runCommand(argv, fakeParts(claw));
}

test('--fields prints lines for pipes and replaces tabs and line breaks in values', async () => {
  const claw = withSessions(['One', 'Two\tand\nmore']);
  expect((await run(claw, 'sessions', 'list', '--fields', 'sessionId,title')).out).toBe('ses_0\tOne\nses_1\tTwo and more\n');
  const { out } = await run(claw, 'sessions', 'list', '--fields', 'title', '--json');
  expect(JSON.parse(out)).toEqual([{ title: 'One' }, { title: 'Two\tand\nmore' }]);
});

test('--fields reads the list in a result that says more, and fails for what neither has', async () => {
  const about = { sessionId: 'ses_1', title: 'One', sinceMs: 1, output: '' };
  const command = { ...about, commandId: 'cmd-1-9', command: 'npm run dev' };
  const claw = new FakeClaw({ 'running.list': () => ({ turns: [], commands: [command] }) });
  const fields = (names: string): Promise<Ran> => run(claw, 'running', 'list', '--fields', names);
  expect((await fields('commandId,command')).out).toBe('cmd-1-9\tnpm run dev\n');
  expect(await fields('comandId')).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean commandId?') as string });
  claw.answers = { 'running.list': () => ({ turns: [], commands: [] }) };
  expect(await fields('turnId')).toMatchObject({ code: 0, out: '' });
});

test.each(['rename s x', 'archive s', 'show s'])('sessions %s: a terminal gets no control characters of a title', async (argv) => {
  const claw = new FakeClaw();
  const named = () => ({ ...claw.sessionInfo('s'), title: 'red \u001B[31m' });
  const session = () => ({ session: named(), events: [], earlierBefore: null });
  claw.answers = { 'session.rename': named, 'session.archive': named, 'session.get': session };
  const { terminal, finish } = atTerminal(claw, ['sessions', ...argv.split(' ')]);
  await finish;
  expect(terminal.out).toContain('s  red \\u{1b}[31m');
});

test('--fields suggests a field for an unknown one', async () => {
  const { code, err } = await run(withSessions(['One']), 'sessions', 'list', '--fields', 'titel');
  expect({ code, err }).toEqual({
    code: 2,
    err: 'The result has no field "titel".\nDid you mean title?\nSee: trayclaw sessions list --help\n',
  });
});

test('the help of a command says what an id may be, what a path is called, and the options of every command', async () => {
  const help = async (...words: readonly string[]) => (await run(new FakeClaw({}), ...words, '--help')).out;
  expect(await help('turns', 'show')).toMatch(/turn-id +its id, the first characters of it, or last for the newest\n/);
  expect(await help('approvals', 'show')).toMatch(/approval-id +its id, or the first characters of it\n/);
  expect(await help('skills', 'pack')).toContain('--out <path>');
  expect(await help('usage')).toMatch(/--json +print one JSON document\n/);
});

test('the difference of an agent without an identity is said in words', async () => {
  const claw = new FakeClaw({ 'identity.diff': ({ from = 0, to = 0 }) => ({ from, to, lines: [] }) });
  expect((await run(claw, 'identity', 'diff')).out).toBe('There are no versions yet.\n');
  expect((await run(claw, 'identity', 'diff', '1', '2')).out).toBe('version 1 to 2\nThe same.\n');
});

test('a pinned skill is described in a sentence', async () => {
  const claw = new FakeClaw({ 'skill.pin': ({ name, pinned }) => ({ name, isPinned: pinned }) });
  expect((await run(claw, 'skills', 'pin', 'weather')).out).toBe('weather stays at its version.\n');
  expect((await run(claw, 'skills', 'unpin', 'weather')).out).toBe('weather can be updated again.\n');
});

test('why nothing was done is said on stderr; with --json and --fields the result stays on stdout', async () => {
  const claw = new FakeClaw({
    'secret.delete': ({ name }) => ({ name, deleted: name === 'openai' }),
    'running.stop': () => ({ stopped: false }),
    'knowledge.preview': ({ path }) => ({ path, kind: 'file', files: 0, more: false, outside: false, problem: 'There is nothing.' }),
  });
  expect(await run(claw, 'secret', 'delete', 'openai')).toEqual({ code: 0, out: 'Deleted openai.\n', err: '' });
  expect(await run(claw, 'secret', 'delete', 'x')).toEqual({ code: 1, out: '', err: 'There is no secret x.\nSee: trayclaw secret list\n' });
  expect(await run(claw, 'running', 'stop', 'c')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('No command c') as string,
  });
  expect(await run(claw, 'knowledge', 'preview', '/x')).toEqual({ code: 1, out: '', err: 'There is nothing.\n' });
  expect(await run(claw, 'secret', 'delete', 'x', '--json')).toEqual({ code: 1, out: '{"name":"x","deleted":false}\n', err: '' });
  expect(await run(claw, 'secret', 'delete', 'x', '--fields', 'deleted')).toEqual({ code: 1, out: 'false\n', err: '' });
});

test('a family without its command is an error of one sentence in JSON', async () => {
  for (const [argv, family] of [
    [['sessions'], 'trayclaw sessions'],
    [[], 'trayclaw'],
  ] as const) {
    const { code, out } = await run(new FakeClaw(), ...argv, '--json');
    const message = `${family} needs a command.`;
    expect([code, JSON.parse(out)]).toEqual([2, { error: { code: 'invalid_params', message, hint: `See: ${family} --help` } }]);
  }
});

test('wrong arguments of a tool are wrong usage', async () => {
  const refuse = (): never => {
    throw new AppError('invalid_arguments', 'Wrong arguments for calc.');
  };
  expect((await run(new FakeClaw({ 'tool.run': refuse }), 'tool', 'calc', '{}')).code).toBe(2);
});

test('says how to see the next page only if there are more entries', async () => {
  expect((await run(withSessions(['One'], 'c1'), 'sessions', 'list')).err).toBe('There is more: add --cursor c1\n');
  expect((await run(withSessions(['One'], 'c1'), 'sessions', 'list', '--quiet')).err).toBe('');
  expect((await run(withSessions(['One']), 'sessions', 'list')).err).toBe('');
});

test('a command with pages accepts the option that it names for the next page', () => {
  const missing = opEntries().flatMap(({ path, form, source }) => {
    if (!('op' in source) || typeof (form.shows ?? source.opForm.shows) !== 'object') return [];
    const result = opTable[source.op].result;
    const pages = result instanceof z.ZodObject ? Object.keys(result.shape).filter((name) => /^next[A-Z]/.test(name)) : [];
    const options = Object.keys(form.options ?? {}).map((name) => `next${name[0]?.toUpperCase()}${name.slice(1)}`);
    return pages.filter((name) => !options.includes(name)).map((name) => `${path.join(' ')}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test('suggests a correction for a wrong choice, number or command', async () => {
  const failed = async (...argv: string[]): Promise<unknown[]> => {
    const claw = new FakeClaw();
    const { code, err } = await run(claw, ...argv);
    return [code, err, claw.calls.length];
  };
  expect(await failed('usage', '--by', 'modell')).toEqual([
    2,
    '--by takes one of day, model, session, not "modell".\nDid you mean model?\nSee: trayclaw usage --help\n',
    0,
  ]);
  expect(await failed('memory', 'settle', 'mem_1', 'mem_2', 'x')).toEqual([
    2,
    '<keep> takes one of this, other, both, not "x".\nSee: trayclaw memory settle --help\n',
    0,
  ]);
  expect(await failed('memory', 'add', 'x', '--importance', '2')).toEqual([
    2,
    '--importance takes a number from 0 to 1, not "2".\nSee: trayclaw memory add --help\n',
    0,
  ]);
  expect(await failed('sessions', 'list', '--limit', 'x')).toEqual([
    2,
    '--limit must be a whole number.\nSee: trayclaw sessions list --help\n',
    0,
  ]);
  expect((await failed('sesions'))[1]).toContain('(Did you mean sessions?)');
  expect((await failed('memory', 'serch'))[1]).toContain('Did you mean search?');
});

test('an error names the typed arguments and options and ends with the next step', async () => {
  const refuses =
    (code: 'invalid_params' | 'not_found' | 'unknown_tool', message: string, data = {}) =>
    () => {
      throw new AppError(code, message, { data });
    };
  const failed = async (answers: Partial<OpHandlers>, ...argv: string[]): Promise<readonly [number, string]> => {
    const { code, err } = await run(new FakeClaw(answers), ...argv);
    return [code, err];
  };
  const issues = ['sessionId must not be empty', 'title must not be empty'];
  const refused = refuses('invalid_params', `The parameters of session.rename are not valid: ${issues.join('; ')}.`, { issues });
  expect(await failed({ 'session.rename': refused }, 'sessions', 'rename', 'a', 'b')).toEqual([
    2,
    '<session-id> must not be empty; <title> must not be empty.\nUsage: trayclaw sessions rename [options] <session-id> <title>\n',
  ]);
  const unsigned = refuses('invalid_params', 'x', { issues: ['sha256 is missing (it must be text)'] });
  expect((await failed({ 'project.accept': unsigned }, 'folders', 'accept', '--sha256', 'a'.repeat(64)))[1]).toMatch(
    /^--sha256 is missing: the digest .*\nUsage: .* accept/,
  );
  const bare = refuses('invalid_params', 'x', { issues: ['with is missing (it must be a list)'] });
  expect(await failed({ 'pipeline.compare': bare }, 'compare', 'x', '--with', 'y')).toEqual([
    2,
    expect.stringMatching(
      /^--with is missing: what to compare: pipelines, models .*\.\nUsage: .*\nExample: trayclaw compare '.*' --with research agent:main\n$/,
    ),
  ]);
  const gone = refuses('not_found', 'There is no turn trn_x.');
  expect(await failed({ 'turn.get': gone }, 'turns', 'show', 'trn_x')).toEqual([
    1,
    'There is no turn trn_x.\nSee: trayclaw activity search\n',
  ]);
  const session = refuses('not_found', 'There is no session x.', { sessionId: 'x' });
  expect((await failed({ 'session.fork': session }, 'sessions', 'fork', 'x'))[1]).toBe(
    'There is no session x.\nSee: trayclaw sessions list\n',
  );
  const unknown = (): never => {
    throw noTurn('trn_x');
  };
  expect((await failed({ 'checkpoint.review': unknown }, 'review', 'trn_x'))[1]).toBe(
    'There is no turn trn_x.\nSee: trayclaw activity search\n',
  );
  expect((await failed({ 'turn.get': refuses('unknown_tool', 'No.') }, 'turns', 'show', 'x'))[1]).toBe('No.\nSee: trayclaw tools\n');
  expect((await failed({ 'grant.revoke': refuses('not_found', 'No.') }, 'grants', 'revoke', 'x'))[1]).toBe(
    'No.\nSee: trayclaw grants list\n',
  );
});

test('prints the usage of a command that is used wrongly', async () => {
  const failed = async (...argv: string[]): Promise<string> => (await run(new FakeClaw(), ...argv)).err;
  const usage = 'Usage: trayclaw turns show [options] <turn-id>\n';
  expect(await failed('turns', 'show')).toBe(`Missing required argument 'turn-id'\n${usage}`);
  expect(await failed('turns', 'show', 'a', 'secret')).toBe(`There are more arguments than this command takes\n${usage}`);
  expect(await failed('turns', 'show', 'a', '--colour')).toBe(`Unknown option '--colour'\n${usage}`);
  expect(await failed('turns', 'shw')).toBe("Unknown command 'shw'\n(Did you mean show?)\nSee: trayclaw turns --help\n");
});

test('a value without a name is refused before anything runs', async () => {
  const claw = new FakeClaw();
  const { code, err } = await run(claw, 'mcp', 'add', 'files', 'npx', '--env', 'DEBUG');
  expect([code, err, claw.calls]).toEqual([2, expect.stringContaining('--env takes NAME=VALUE, not "DEBUG".'), []]);
});

test('an empty session is refused by the name of its option', async () => {
  const { code, err } = await run(new FakeClaw(), 'ask', 'x', '--session', '');
  expect([code, err]).toEqual([2, '--session must not be empty.\nSee: trayclaw ask --help\n']);
});

test('only a running instance can tell which skills are new', async () => {
  const reloaded = { skills: 3, added: ['a'], changed: [], removed: ['b'] };
  const claw = new FakeClaw({ 'skill.reload': () => reloaded });
  expect((await run(claw, 'skills', 'reload')).out).toBe('3 skills. They are read at each start.\n');
  const parts = fakeParts(claw, { findInstance: () => Promise.resolve(foundInstance(claw)) });
  expect((await runCommand(['skills', 'reload'], parts)).out).toBe('3 skills. New: a. Gone: b.\n');
});

test('an empty path does not mean the current folder', async () => {
  for (const argv of [
    ['folders', 'trust', ''],
    ['ask', 'x', '--cwd', ''],
    ['prompts', 'set', 'x', ''],
    ['chat', '--file', 'a', '--file', ''],
    ['ask', 'x', '--schema', ''],
    ['skills', 'lint', ''],
    ['artifacts', 'get', 'x', '--out', ''],
    ['eval', 'run', ''],
    ['backup', 'verify', ''],
    ['mcp', 'add', 'x', 'y', '--cwd', ''],
  ]) {
    const claw = new FakeClaw();
    const { code, err } = await run(claw, ...argv);
    expect([code, claw.calls]).toEqual([2, []]);
    expect(err).toMatch(/^(?:<path>|--cwd|<file>|--file|--schema|<name-or-folder>|--out) must not be empty\.\nUsage: trayclaw /);
  }
});

test('resolves paths against the current folder, and ~ to the home folder', async () => {
  const asked = async (path: string): Promise<unknown> => {
    const claw = new FakeClaw();
    await run(claw, 'knowledge', 'preview', path);
    return claw.calls[0]?.params;
  };
  expect(await asked('notes')).toEqual({ path: '/work-folder/notes' });
  expect(await asked('~/notes')).toEqual({ path: '/home/person/notes' });
  expect(await asked('~')).toEqual({ path: '/home/person' });
});

test('asks before deleting; refuses without a terminal, and only yes confirms', async () => {
  const claw = new FakeClaw({ 'session.delete': ({ sessionId }) => ({ sessionId, events: 4 }) });
  const deleted = (): number => claw.calls.filter(({ name }) => name === 'session.delete').length;
  const refused = await run(claw, 'sessions', 'delete', 'ses_x');
  expect([refused.code, refused.err.includes('--yes'), deleted()]).toEqual([2, true, 0]);
  for (const [answer, code, count] of [
    ['', 1, 0],
    ['no', 1, 0],
    ['y', 0, 1],
  ] as const) {
    const { terminal, finish } = atTerminal(claw, ['sessions', 'delete', 'ses_x']);
    await terminal.sees('Delete this session for good?');
    terminal.type(answer);
    expect([await finish, deleted()]).toEqual([code, count]);
  }
});

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
}

const fieldsIn = (text: string): string[] => (text.includes('{') ? [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name) : [text]);

/** The fields that a form names but its operation does not have. */
function unknownFields(name: OpName, shows: string | RowsForm): readonly string[] {
  const { params, result } = opTable[name];
  const shape = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema =>
    z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema;
  const given = shape(params, 'input').properties ?? {};
  const answered = shape(result, 'output').properties ?? {};
  if (typeof shows === 'string') return fieldsIn(`{}${shows}`).filter((field) => !(field in answered) && !(field in given));
  const row = answered[shows.each]?.items?.properties ?? {};
  return Object.values(shows.columns)
    .flatMap(fieldsIn)
    .filter((field) => !(field in row));
}

test('a form shows only fields that the result has', () => {
  const shown = Object.entries(opForms).flatMap(([name, { shows, commands = {} }]) =>
    [shows, ...Object.values(commands).map((one) => one.shows)].flatMap((one) =>
      one === undefined ? [] : [[name as OpName, one] as const],
    ),
  );
  expect(shown.length).toBeGreaterThan(40);
  expect(shown.flatMap(([name, one]) => unknownFields(name, one).map((field) => `${name} ${field}`))).toEqual([]);
  expect(unknownFields('session.delete', 'Deleted {sessionid}.')).toEqual(['sessionid']);
  expect(unknownFields('task.list', { each: 'tasks', columns: { WHAT: 'texts' }, none: '' })).toEqual(['texts']);
});
