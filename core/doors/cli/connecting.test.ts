// The command line in process: connecting to an instance, hosting one, serving, ending, and what it says about these.

import { expect, test } from 'vitest';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { scheduleView } from '../../../tests/doubles/schedule-answers.ts';
import { FakeTerminal, fakeParts, foundInstance, runCommand } from '../../../tests/doubles/fake-terminal.ts';
import { AppError } from '../../contracts/errors.ts';
import { runCli, type CliParts } from './cli.ts';

test('uses the running instance and mentions a different version', async () => {
  const claw = new FakeClaw();
  const parts = fakeParts(new FakeClaw(), { findInstance: () => Promise.resolve(foundInstance(claw, { version: '2.0.0' })) });
  const ran = await runCommand(['panic', '--status'], parts);
  expect([ran.code, parts.hosted, claw.calls.length]).toEqual([0, [], 1]);
  expect(ran.err).toBe('The running instance (process 9) is version 2.0.0; this command is 1.0.0.\n');
});

test('commands that only read do not resume turns; commands that act do', async () => {
  const parts = fakeParts(new FakeClaw());
  await runCommand(['panic', '--status', '--home', 'data'], parts);
  await runCommand(['ask', 'hi'], parts, { env: { TRAYCLAW_HOME: '/other' } });
  expect(parts.hosted).toEqual([
    { home: '/work-folder/data', resume: false },
    { home: '/other', resume: true },
  ]);
});

test('of two commands at once, the one without the folder joins the other', async () => {
  const winner = new FakeClaw();
  let looks = 0;
  const locked = new AppError('store_locked', 'locked');
  const parts = fakeParts(new FakeClaw(), {
    findInstance: () => Promise.resolve(++looks < 120 ? null : foundInstance(winner)),
    hostClaw: () => Promise.reject(locked),
  });
  const waited = 'Waiting for another TrayClaw that is starting or ending.\n';
  expect(await runCommand(['panic', '--status'], parts)).toMatchObject({ code: 0, err: waited });
  expect(winner.calls).toHaveLength(1);
  const never = fakeParts(new FakeClaw(), { hostClaw: () => Promise.reject(locked) });
  const ran = await runCommand(['panic', '--status', '--json', '--home', '/d'], never);
  const message = 'Another process uses the data folder /d and does not answer.';
  expect([ran.code, JSON.parse(ran.out)]).toEqual([
    1,
    { error: { code: 'store_locked', message, hint: expect.stringContaining('Use the running instance, or stop it first.') as string } },
  ]);
  expect(never.clock.monotonicMs() - 1_750_000_000_000).toBe(20_000);
});

test('a request that an ending instance did not receive is made again, in this process', async () => {
  const failed = (syscall: string): AppError =>
    new AppError('shutting_down', 'Gone.', { cause: Object.assign(new Error(syscall), { syscall }) });
  for (const [syscall, again] of [
    ['connect', true],
    ['read', false],
  ] as const) {
    const ending = new FakeClaw({ 'message.send': () => Promise.reject(failed(syscall)) });
    const own = new FakeClaw();
    let looks = 0;
    const parts = fakeParts(own, { findInstance: () => Promise.resolve(looks++ === 0 ? foundInstance(ending) : null) });
    const ran = await runCommand(['ask', 'hi'], parts);
    expect([syscall, ran.code, ran.out, ending.isClosed, own.isClosed]).toEqual([syscall, again ? 0 : 1, again ? 'ok\n' : '', true, again]);
  }
});

test('a host waits a moment for another process that has just asked, without a word', async () => {
  const parts = fakeParts(new FakeClaw());
  const { clock } = parts;
  const askedAtMs = clock.monotonicMs() - 200;
  Object.defineProperty(parts.doors, 'askedAgoMs', { get: () => clock.monotonicMs() - askedAtMs });
  expect(await runCommand(['panic', '--status', '--json'], parts)).toMatchObject({ code: 0, err: '' });
  expect([clock.monotonicMs() - askedAtMs, parts.doors.isDisposed]).toEqual([1_000, true]);
});

test('a host waits for turns of other processes; Ctrl-C ends the waiting', async () => {
  for (const isInterrupted of [false, true]) {
    const claw = new FakeClaw();
    claw.scripts.push([{ hang: true }]);
    const { turnId } = await claw.op('message.send', { text: 'from elsewhere' });
    const parts = fakeParts(claw);
    parts.doors.openRequests = 1;
    const terminal = new FakeTerminal({ stdin: '' });
    const ending = runCli(['panic', '--status', '--json'], terminal.io, parts);
    await terminal.sees('Waiting for work');
    expect([claw.isClosed, terminal.out.length > 0]).toEqual([false, true]);
    if (isInterrupted) terminal.interrupt();
    else await claw.op('turn.cancel', { turnId });
    expect([await ending, claw.isClosed, parts.doors.isDisposed]).toEqual([0, true, true]);
  }
});

test.each([
  ['one part', new AppError('store_full', 'The disk is full.')],
  [
    'several parts',
    new AggregateError([new AppError('store_full', 'The disk is full.'), new Error('EIO')], 'several parts failed to close'),
  ],
])('a runtime that cannot close keeps the result and its exit code: %s', async (_, cause) => {
  const claw = new FakeClaw();
  claw.close = () => Promise.reject(cause);
  const ran = await runCommand(['panic', '--status', '--json'], fakeParts(claw));
  expect([ran.code, JSON.parse(ran.out)]).toEqual([0, expect.objectContaining({ engaged: false })]);
  expect(ran.err).toBe('TrayClaw could not close in order: The disk is full. Nothing that was recorded is lost.\n');
});

test('doctor reports a runtime that cannot start', async () => {
  const parts = fakeParts(new FakeClaw(), { hostClaw: () => Promise.reject(new AppError('invalid_config', 'budget.perDay: unknown key')) });
  const ran = await runCommand(['doctor', '--json'], parts);
  const fix = 'Correct it in config.yaml. Nothing else was changed.';
  expect([ran.code, JSON.parse(ran.out)]).toEqual([
    1,
    { ok: false, checks: [{ id: 'runtime', ok: false, detail: 'budget.perDay: unknown key', fix }] },
  ]);
});

test('restores a backup only if nothing is running', async () => {
  const parts = fakeParts(new FakeClaw());
  expect(await runCommand(['backup', 'restore', 'b.db', '--json'], parts)).toEqual({
    code: 0,
    out: '{"from":"b.db","kept":null}\n',
    err: '',
  });
  expect(parts.hosted).toEqual([]);
  const running = fakeParts(new FakeClaw(), { findInstance: () => Promise.resolve(foundInstance(new FakeClaw())) });
  expect(await runCommand(['backup', 'restore', 'b.db'], running)).toMatchObject({ code: 1, out: '' });
});

test('prints an artifact of many parts whole', async () => {
  const artifact = { sha256: 'a', name: 'n', mediaType: 'x/y', sizeBytes: 6, aliases: [], createdAtMs: 1, sessionId: null, turnId: null };
  const claw = new FakeClaw({
    'artifact.get': ({ offset }) =>
      offset === 3
        ? { artifact, text: null, base64: Buffer.from('DEF').toString('base64'), nextOffset: null }
        : { artifact, text: 'abc', base64: null, nextOffset: 3 },
  });
  expect(await runCommand(['artifacts', 'get', 'a'], fakeParts(claw))).toEqual({ code: 0, out: 'abcDEF', err: '' });
});

test('serve prints one line when ready, ends cleanly on a signal, at once on a second', async () => {
  const claw = new FakeClaw();
  const parts = fakeParts(claw);
  const terminal = new FakeTerminal();
  const ending = runCli(['serve', '--port', '4321', '--open'], terminal.io, parts);
  await terminal.sees('Opened the window');
  const line = { url: 'http://127.0.0.1:4321', token: 'tok', pid: 77, windowUrl: 'http://127.0.0.1:4321/#token=tok' };
  expect(terminal.out).toBe(JSON.stringify(line) + '\n');
  terminal.interrupt();
  expect([await ending, claw.isClosed, parts.doors.isDisposed]).toEqual([0, true, true]);

  const stuck = new FakeClaw();
  stuck.close = () => new Promise(() => undefined);
  const second = new FakeTerminal();
  const forced = runCli(['serve'], second.io, fakeParts(stuck));
  await second.sees('"url"');
  second.interrupt();
  await second.sees('Stopping.');
  second.interrupt();
  expect(await forced).toBe(130);
});

test('serve reuses an instance that serves and waits for one that does not', async () => {
  const serving = foundInstance(new FakeClaw(), { url: 'http://127.0.0.1:5' });
  const reuse = await runCommand(['serve'], fakeParts(new FakeClaw(), { findInstance: () => Promise.resolve(serving) }));
  expect([reuse.code, JSON.parse(reuse.out)]).toEqual([
    0,
    { url: 'http://127.0.0.1:5', token: 'other', pid: 9, windowUrl: 'http://127.0.0.1:5/#token=other' },
  ]);
  const busy = fakeParts(new FakeClaw(), { findInstance: () => Promise.resolve(foundInstance(new FakeClaw())) });
  expect(await runCommand(['serve'], busy)).toMatchObject({ code: 1, out: '' });
});

test('serve asks the tray app to serve and leaves the address to it; start still shows the app', async () => {
  const ports: (number | undefined)[] = [];
  const serve = (port?: number): Promise<{ url: string }> => Promise.resolve(ports.push(port)).then(() => ({ url: 'http://127.0.0.1:6' }));
  const app = { ...foundInstance(new FakeClaw()), serve };
  for (const argv of [['serve', '--port', '6'], ['serve'], ['mcp', 'serve', '--http', '6']]) {
    const ran = await runCommand(argv, fakeParts(new FakeClaw(), { findInstance: () => Promise.resolve(app) }));
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([0, { url: 'http://127.0.0.1:6', token: 'other', pid: 9 }]);
    expect(ran.err).toContain('Already running as process 9; this is its address. The app serves it until you quit the app.');
  }
  expect(ports).toEqual([6, undefined, 6]);
  const taken = new AppError('port_in_use', 'Port 6 is in use.', { data: { port: 6 } });
  const failing = { ...app, serve: () => Promise.reject(taken) };
  const refused = await runCommand(['serve'], fakeParts(new FakeClaw(), { findInstance: () => Promise.resolve(failing) }));
  expect([refused.code, refused.out, refused.err]).toEqual([1, '', expect.stringContaining('Port 6 is in use.')]);

  const serving = { ...foundInstance(new FakeClaw(), { url: 'http://127.0.0.1:6' }), serve };
  const desktop: Partial<CliParts> = { runDesktop: () => Promise.resolve({ kind: 'ended', code: 0 }) };
  const shown = await runCommand(['start'], fakeParts(new FakeClaw(), { ...desktop, findInstance: () => Promise.resolve(serving) }));
  expect(shown).toEqual({ code: 0, out: '', err: '' });
});

const tokenNote = 'The access token is not printed here. For the address with it, run this in a terminal: trayclaw serve\n';

test.each<[string, string[], boolean, boolean]>([
  ['the log of a service gets no token', [], true, false],
  ['the log of a service gets the token when asked', ['--print-token'], true, true],
  ['a pipe gets the token', [], false, true],
  ['a pipe gets no token when asked', ['--no-print-token'], false, false],
])('%s', async (_name, flags, isService, hasToken) => {
  const line = hasToken
    ? { url: 'http://127.0.0.1:4000', token: 'tok', pid: 77, windowUrl: 'http://127.0.0.1:4000/#token=tok' }
    : { url: 'http://127.0.0.1:4000', pid: 77 };
  const terminal = new FakeTerminal({ isService });
  const ending = runCli(['serve', ...flags], terminal.io, fakeParts(new FakeClaw()));
  await terminal.sees(hasToken ? 'windowUrl' : 'in a terminal');
  expect([terminal.out, terminal.err]).toEqual([JSON.stringify(line) + '\n', hasToken ? '' : tokenNote]);
  terminal.interrupt();
  expect(await ending).toBe(0);

  const serving = foundInstance(new FakeClaw(), { url: 'http://127.0.0.1:5' });
  const reuse = await runCommand(['serve', ...flags], fakeParts(new FakeClaw(), { findInstance: () => Promise.resolve(serving) }), {
    isService,
  });
  expect([reuse.code, reuse.out.includes('other'), reuse.out.includes('"pid":9')]).toEqual([0, hasToken, true]);
});

test('does not print the token to a service log if no browser can be opened', async () => {
  for (const argv of [['serve', '--open'], ['start'], ['start', '--json']]) {
    const terminal = new FakeTerminal({ isService: true });
    const ending = runCli(argv, terminal.io, fakeParts(new FakeClaw(), { openWindow: () => Promise.resolve(null) }));
    // A printed token would end the wait as well.
    await terminal.sees('To open the window, run this in a terminal: trayclaw serve --open', 'tok');
    terminal.interrupt();
    await ending;
    expect(terminal.out + terminal.err).not.toContain('tok=');
    expect(terminal.out + terminal.err).not.toMatch(/\btok\b/);
  }
});

test('start without Electron prints one line with the window or its address', async () => {
  const nobody = new FakeTerminal();
  const ending = runCli(['start'], nobody.io, fakeParts(new FakeClaw(), { openWindow: () => Promise.resolve(null) }));
  await nobody.sees('address');
  const line =
    'TrayClaw runs without a tray icon, because Electron is not installed. Open this address yourself: http://127.0.0.1:4000/#token=tok\n';
  expect([nobody.out, nobody.err]).toEqual(['', line]);
  nobody.interrupt();
  expect(await ending).toBe(0);

  const shown = new FakeTerminal();
  const showing = runCli(['start'], shown.io, fakeParts(new FakeClaw()));
  await shown.sees('Ctrl-C');
  expect(shown.err.split('\n')).toEqual([
    'TrayClaw runs without a tray icon, because Electron is not installed. The window is open in an app window; Ctrl-C ends TrayClaw.',
    '',
  ]);
  shown.interrupt();
  expect(await showing).toBe(0);
});

test('says once that Chromium runs without its sandbox, if it does', async () => {
  const terminal = new FakeTerminal();
  const parts = fakeParts(new FakeClaw(), {
    runDesktop: ({ onNoSandbox }) => {
      onNoSandbox();
      return Promise.resolve({ kind: 'missing', why: 'Electron does not run on this machine' });
    },
    openWindow: ({ onNoSandbox }) => {
      onNoSandbox();
      return Promise.resolve('an app window');
    },
  });
  const ending = runCli(['start', '--quiet'], terminal.io, parts);
  await terminal.sees('Ctrl-C');
  expect(terminal.err.split('\n')).toEqual([
    'As the superuser Chromium runs without its sandbox (--no-sandbox); start TrayClaw as an ordinary user to have it.',
    'TrayClaw runs without a tray icon, because Electron does not run on this machine. The window is open in an app window; Ctrl-C ends TrayClaw.',
    '',
  ]);
  terminal.interrupt();
  expect(await ending).toBe(0);
});

test('start runs the tray app if possible, unless another process serves the window', async () => {
  const claw = new FakeClaw();
  const desktop: Partial<CliParts> = { runDesktop: () => Promise.resolve({ kind: 'ended', code: 3 }) };
  const parts = fakeParts(claw, desktop);
  expect(await runCommand(['start'], parts)).toEqual({ code: 3, out: '', err: '' });
  expect(parts.hosted).toEqual([]);
  const serving = foundInstance(new FakeClaw(), { url: 'http://127.0.0.1:5' });
  const reuse = await runCommand(['start'], fakeParts(claw, { ...desktop, findInstance: () => Promise.resolve(serving) }));
  expect([reuse.code, reuse.err]).toEqual([0, expect.stringContaining('Already running as process 9')]);
  const serves = fakeParts(claw, { findInstance: () => Promise.resolve(serving) });
  expect((await runCommand(['serve', '--port', '6'], serves)).err).toContain('It stays on port 5. Stop it first to serve on port 6.');
});

test('a schedule that is added while nothing runs says what must run when it is due', async () => {
  const command = ['schedule', 'add', 'Sum up', '--every', '1h'];
  const answering = (): FakeClaw => new FakeClaw({ 'schedule.create': () => scheduleView });
  const alone = await runCommand(command, fakeParts(answering()));
  expect(alone.out).toMatch(
    /Added sch_1; .*\nTrayClaw does not run now, and must run then: trayclaw.* serve, or trayclaw.* service install\n$/,
  );
  const running = fakeParts(new FakeClaw(), { findInstance: () => Promise.resolve(foundInstance(answering())) });
  expect((await runCommand(command, running)).out).toMatch(/^Added sch_1; .*\n$/);
});

test('the preview of a session says what it shows, and where the rest is', async () => {
  const { err } = await runCommand(['undo', 'ses_1', '--preview'], fakeParts(new FakeClaw()));
  expect(err).toMatch(/^--preview shows a call or a turn as a whole\.\nFor others: trayclaw.* review ses_1\n/);
});
