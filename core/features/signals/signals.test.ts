import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { CountingIds } from '../../../tests/doubles/counting-ids.ts';
import { silentLogger } from '../../base/logger.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import { wholeBounds } from '../../contracts/turn-bounds.ts';
import { SessionLog, sessionMigrations } from '../../store/session/session.ts';
import { Storage } from '../../store/storage/storage.ts';
import { FileWatch, HookGate, SignalBook, SignalHub, signalMigrations, type Signal, type SignalHubDeps } from './signals.ts';

function openHub(limits: Partial<SignalHubDeps['limits']> = {}, submit?: SignalHubDeps['turns']['submit']) {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-signals-'));
  const storage = Storage.open({ home, migrations: [...sessionMigrations, ...signalMigrations] });
  onTestFinished(() => {
    storage.dispose();
    rmSync(home, { recursive: true, force: true });
  });
  const clock = new ManualClock();
  const book = new SignalBook(storage.db);
  const log = new SessionLog({ storage, clock, logger: silentLogger, projections: [book] });
  let turns = 0;
  const takes: SignalHubDeps['turns']['submit'] = (message) => {
    const turnId = `trn_${(turns += 1)}`;
    log.transact(() => message.alongside(turnId), true);
    return { sessionId: message.sessionId, turnId };
  };
  const hub = new SignalHub({
    log,
    clock,
    book,
    ids: new CountingIds(),
    limits: { runsPerHour: 3, perMinute: 5, queued: 2, textMax: 100, ...limits },
    turns: { submit: submit ?? takes, appendToTurn: () => undefined },
  });
  const recorded = () => log.reads.slice(systemSessionId, { types: ['signal.received'], limit: 100 }).length;
  return { hub, clock, book, log, recorded };
}

const signal = (key: string, more: Partial<Signal> = {}): Signal => ({
  source: 'app',
  name: 'build',
  dedupeKey: key,
  text: 'It failed.',
  data: null,
  attention: 'observe',
  session: { sessionId: 'signal-build', title: 'Build' },
  agentId: 'main',
  untrusted: [],
  bounds: wholeBounds,
  ...more,
});

test('signals with the same key are one; another source may use the key too', () => {
  const { hub, recorded } = openHub();
  expect(hub.receive(signal('a')).repeated).toBe(false);
  expect(hub.receive(signal('a', { attention: 'run' }))).toMatchObject({ repeated: true, disposition: 'recorded' });
  expect(hub.receive(signal('a', { source: 'webhook' })).repeated).toBe(false);
  expect(recorded()).toBe(2);
});

test('limits turns, notes and signals, and does not record a refused flood', () => {
  const { hub, clock, recorded } = openHub();
  const dispositions = [1, 2, 3, 4].map((n) => hub.receive(signal(`run ${n}`, { attention: 'run', name: `n${n}` })).disposition);
  expect(dispositions).toEqual(['run', 'run', 'run', 'limited']);
  // A clock that was set back does not hold back signals until that time comes again.
  const nowMs = clock.nowMs();
  clock.advance(-86_400_000);
  expect(hub.receive(signal('run back', { attention: 'run', name: 'back' })).disposition).toBe('run');
  clock.advance(86_400_000);
  expect(clock.nowMs()).toBe(nowMs);
  expect([1, 2, 3].map((n) => hub.receive(signal(`q ${n}`, { attention: 'queue', name: `q${n}` })).disposition)).toEqual([
    'queued',
    'queued',
    'limited',
  ]);
  for (let n = 0; n < 5; n++) hub.receive(signal(`o ${n}`));
  const before = recorded();
  for (let n = 5; n < 50; n++) expect(() => hub.receive(signal(`o ${n}`))).toThrow('within a minute');
  expect(recorded()).toBe(before);
  clock.advance(3_600_001);
  expect(hub.receive(signal('later', { attention: 'run' })).disposition).toBe('run');
});

test('a turn that cannot start is recorded with the reason; a schedule gets the error', () => {
  const full = (): never => {
    throw new AppError('queue_full', 'There is no room.');
  };
  const { hub } = openHub({}, full);
  expect(hub.receive(signal('a', { attention: 'run' }))).toMatchObject({ disposition: 'refused', reason: 'There is no room.' });
  expect(() => hub.receive(signal('a', { source: 'schedule', attention: 'run' }))).toThrow('no room');
});

test('a webhook needs its secret; wrong guesses slow down only the guesser', async () => {
  const { hub, clock } = openHub({ perMinute: 100 });
  const webhooks = { build: { secret: 'env:S', attention: 'observe' as const } };
  const gate = new HookGate({ hub, clock, webhooks, secret: () => Promise.resolve('right secret'), boundsOf: () => wholeBounds });
  const call = (name: string, secret: string, body = 'x') => gate.call({ name, secret, body });
  await expect(call('build', 'wrong')).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(call('build', '')).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(call('constructor', 'right secret')).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(call('other', '')).rejects.toMatchObject({ code: 'unauthorized' });
  for (let n = 0; n < 6; n++) await expect(call('build', `guess ${n}`)).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(call('build', 'one more')).rejects.toMatchObject({ code: 'rate_limited' });
  expect(await call('build', 'right secret', '{"text":"Build 7","n":1}')).toMatchObject({
    text: 'Build 7',
    data: '{"text":"Build 7","n":1}',
    repeated: false,
  });
  expect(await call('build', 'right secret', '{"text":"Build 7","n":1}')).toMatchObject({ repeated: true });
  expect(await call('build', 'right secret', 'not json')).toMatchObject({ text: 'not json', data: null });
});

/** The published examples of both forms. */
const signedCalls = {
  standard: {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    signature: { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: '1614265330', standard: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' },
  },
  github: {
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    signature: { github: 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
  },
} as const;

function signedGate(form: keyof typeof signedCalls, secret: string = signedCalls[form].secret) {
  const { hub, clock } = openHub({ perMinute: 100 });
  clock.advance(1614265330_000 - clock.nowMs());
  const webhooks = { build: { secret: 'env:S', signature: form, attention: 'observe' as const } };
  const gate = new HookGate({ hub, clock, webhooks, secret: () => Promise.resolve(secret), boundsOf: () => wholeBounds });
  const { body, signature } = signedCalls[form];
  const call = (more: Partial<Parameters<HookGate['call']>[0]> = {}) => gate.call({ name: 'build', secret: '', body, signature, ...more });
  return { clock, call, signature };
}

test.each(['standard', 'github'] as const)('a webhook with %s signatures takes the published example, once', async (form) => {
  const { call } = signedGate(form);
  expect(await call()).toMatchObject({ repeated: false });
  expect(await call({ dedupeKey: 'another delivery' })).toMatchObject({ repeated: true });
});

test.each(['standard', 'github'] as const)('a webhook with %s signatures refuses everything else', async (form) => {
  const { call, signature } = signedGate(form);
  const other = form === 'standard' ? 'github' : 'standard';
  const odd = [
    { body: 'x' },
    { signature: undefined },
    { signature: {} },
    { signature: signedCalls[other].signature },
    { signature: undefined, secret: signedCalls[form].secret },
    { signature: { ...signature, [form]: '' } },
  ];
  for (const more of odd) await expect(call(more)).rejects.toMatchObject({ code: 'unauthorized' });
});

test('a Standard Webhooks call is refused without its id, with another time, or late', async () => {
  const { call, clock, signature } = signedGate('standard');
  for (const more of [{ id: 'msg_2' }, { id: '' }, { timestamp: '1614265331' }, { timestamp: '' }, { timestamp: 'soon' }])
    await expect(call({ signature: { ...signature, ...more } })).rejects.toMatchObject({ code: 'unauthorized' });
  clock.advance(-300_001);
  await expect(call()).rejects.toMatchObject({ code: 'unauthorized' });
  clock.advance(600_002);
  await expect(call()).rejects.toMatchObject({ code: 'unauthorized' });
  clock.advance(-1);
  expect(await call({ signature: { ...signature, standard: `v1a,x v1,AAAA ${signedCalls.standard.signature.standard}` } })).toMatchObject({
    repeated: false,
  });
});

test('an empty key signs nothing', async () => {
  const emptyKey = { id: 'a', timestamp: '1614265330', standard: 'v1,PBa2OGQATz8F+6d05XNRtAQfsu8L7rNgiXr24nvumUc=' };
  for (const secret of ['', 'whsec_'])
    await expect(signedGate('standard', secret).call({ signature: emptyKey })).rejects.toMatchObject({ code: 'unauthorized' });
});

test('a watched folder reports each change once, also after a move; links are ignored', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-watch-')));
  const inbox = join(root, 'workspace', 'inbox');
  mkdirSync(inbox, { recursive: true });
  writeFileSync(join(root, 'secret'), 's');
  writeFileSync(join(inbox, 'old'), 'o');
  const told: Signal[] = [];
  const wakes = new Set<() => void>();
  const watch = new FileWatch({
    hub: {
      receive: (received) => {
        told.push(received);
        const { source, name, dedupeKey, text, data, attention } = received;
        return {
          signalId: 'sig',
          source,
          name,
          dedupeKey,
          text,
          data,
          attention,
          disposition: 'recorded',
          sessionId: null,
          repeated: false,
        };
      },
    },
    clock: new ManualClock(),
    logger: silentLogger,
    home: root,
    workspace: join(root, 'workspace'),
    watch: [
      { path: 'inbox', attention: 'observe' },
      { path: root, attention: 'observe', name: 'own' },
    ],
    later: (_delayMs, action) => {
      wakes.add(action);
      return () => void wakes.delete(action);
    },
    boundsOf: () => wholeBounds,
  });
  onTestFinished(() => {
    watch.dispose();
    rmSync(root, { recursive: true, force: true });
  });
  // Runs all pending checks at once, because the test controls the time.
  const look = (): void => {
    for (const wake of Array.from(wakes)) {
      wakes.delete(wake);
      wake();
    }
  };
  const seen = async (text: string): Promise<void> => {
    const toldSoFar = (): string => {
      look();
      return told.map((one) => one.text).join('\n');
    };
    await expect.poll(toldSoFar).toContain(text);
  };
  watch.start();
  look();
  await expect.poll(() => wakes.size).toBe(1);
  expect(told).toEqual([]);
  writeFileSync(join(inbox, 'new'), 'n');
  symlinkSync(join(root, 'secret'), join(inbox, 'link'));
  await seen('"new" is new');
  expect(told.map((one) => one.text).join('\n')).not.toContain('link');
  renameSync(inbox, `${inbox}-away`);
  await seen('"new" was removed');
  mkdirSync(inbox);
  writeFileSync(join(inbox, 'again'), 'a');
  await seen('"again" is new');
  expect(new Set(told.map(({ name }) => name))).toEqual(new Set(['inbox']));
  expect(told[0]).toMatchObject({ untrusted: [{ kind: 'file', where: 'file inbox' }] });
});

test('signals join no session of theirs that another caller began', () => {
  const { hub, log } = openHub();
  const body = { title: '', agentId: 'main', channel: 'openai', forkedFrom: null };
  log.append('signal-build', [{ type: 'session.created', body }]);
  const reason = 'The session signal-build was begun over openai, and signals do not join it.';
  for (const attention of ['run', 'queue', 'interrupt'] as const)
    expect(hub.receive(signal(attention, { attention }))).toMatchObject({ disposition: 'refused', reason });
  expect(() => hub.receive(signal('beat', { source: 'heartbeat', attention: 'run' }))).toThrow(reason);
  log.append('mine', [{ type: 'session.created', body }]);
  expect(hub.receive(signal('own', { attention: 'run', session: { sessionId: 'mine', title: '' } }))).toMatchObject({ disposition: 'run' });
});
