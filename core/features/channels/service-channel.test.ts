import { expect, onTestFinished, test } from 'vitest';
import { CountingIds } from '../../../tests/doubles/counting-ids.ts';
import { silentLogger } from '../../base/logger.ts';
import { stillRedacted } from '../../base/redacted.ts';
import {
  channelRulesSchema,
  type ChannelInbound,
  type ChannelPort,
  type ChatDesk,
  type ChatLine,
  type ChatService,
  type OutboundPart,
} from '../../contracts/channels.ts';
import type { Claw } from '../../contracts/claw.ts';
import { AppError } from '../../contracts/errors.ts';
import type { Approval } from '../../contracts/policy.ts';
import { until } from '../../../tests/until.ts';
import { approvalOf, openBench } from '../../../tests/rigs/core/features/channels/channel-bench.ts';
import { ServiceChannel } from './service-channel.ts';

type Sent = Pick<OutboundPart, 'text' | 'part' | 'shownIn'> & { readonly hasButtons: boolean };

async function open(more: Partial<ChatService> = {}, waits: number[] = []) {
  const bench = openBench(onTestFinished);
  bench.pair('42', 'Ada');
  const approvals = new Map<string, Approval>([['apr_1', approvalOf('apr_1')]]);
  const sent: Sent[] = [];
  const closed: unknown[] = [];
  const ports: ChannelPort[] = [];
  const received: ChannelInbound[] = [];
  const rig = { desk: null as ChatDesk | null, runs: 0, failClosing: 0 };
  const port: ChannelPort = {
    name: 'telegram',
    maxFileBytes: 1,
    split: ({ text }) => [{ text, files: [] }],
    escape: (text) => text.replaceAll('.', '!'),
    send: ({ text, part, item, shownIn }) => {
      sent.push({ text, part, hasButtons: item.buttons !== undefined, ...(shownIn === undefined ? {} : { shownIn }) });
      return Promise.resolve({ kind: 'sent', messageId: 'm' });
    },
  };
  const line: ChatLine = {
    port,
    me: '@bot',
    closeQuestion: (question) => {
      if (rig.failClosing-- > 0) return Promise.reject(new Error('not now'));
      closed.push(question);
      return Promise.resolve();
    },
  };
  const service: ChatService = {
    name: 'telegram',
    title: 'Telegram',
    rules: channelRulesSchema.parse({}),
    answers: 'buttons',
    answersStrangers: true,
    run: (desk, signal) => {
      rig.runs += 1;
      rig.desk = desk;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    },
    ...more,
  };
  const channel = new ServiceChannel({
    ...bench,
    service,
    rows: bench.store,
    ids: new CountingIds(),
    logger: silentLogger,
    approvals: {
      approval: (approvalId) => approvals.get(approvalId) ?? null,
      pendingApprovals: () => [...approvals.values()].filter(({ state }) => state === 'pending'),
    },
    servers: { list: () => [], ended: () => null },
    randomInt: () => 0,
    nonce: () => 'nonce-number-00000001',
    wait: async (ms, signal) => {
      waits.push(ms);
      await new Promise((resolve) => setTimeout(resolve, 1));
      return !signal.aborted;
    },
    every: () => () => undefined,
    queue: () => 'out_1',
    keep: (_text, name) => ({ sha256: 'x', name, mediaType: 'text/plain', sizeBytes: 1 }),
    readFile: () => null,
    agentOf: () => 'main',
    fileBytesMax: 1,
  });
  const link = {
    receive: (message: ChannelInbound) => {
      received.push(message);
      return { kind: 'accepted', sessionId: 's', turnId: 't' } as const;
    },
    introduce: () => undefined,
    open: (opened: ChannelPort) => {
      ports.push(opened);
      return () => void ports.splice(ports.indexOf(opened), 1);
    },
  };
  const claw = { op: () => Promise.reject(new Error('no operation')), onDelta: () => () => undefined } as unknown as Claw;
  const joined = channel.channel(claw).join(link);
  onTestFinished(async () => {
    await joined.dispose();
  });
  if (more.run === undefined && more.isOff !== true) await until(() => rig.desk !== null, 'it runs');
  return { ...bench, rig, approvals, sent, closed, ports, received, line, channel };
}

const partOf = (part: number, parts: number): OutboundPart => ({
  text: `part ${part}`,
  files: [],
  part,
  parts,
  attempt: 1,
  idempotencyKey: 'k',
  item: stillRedacted({
    outboundId: 'out_1',
    to: { channel: 'telegram', chatId: '42' },
    kind: 'question',
    text: 'May I?',
    files: [{ sha256: 'x', name: 'call.txt', mediaType: 'text/plain', sizeBytes: 1 }],
    buttons: [[{ label: 'Yes', data: 'y' }]],
    idempotencyKey: 'k',
    sessionId: 's',
    turnId: null,
  }),
});

test('sends a question answered in the meantime with its outcome and without buttons', async () => {
  const { rig, line, ports, sent, approvals } = await open();
  rig.desk?.online(line);
  const send = (part: number) => ports[0]?.send(partOf(part, 3), new AbortController().signal);
  await send(1);
  approvals.set('apr_1', approvalOf('apr_1', { state: 'denied', decidedBy: 'window' }));
  await send(0);
  await send(1);
  expect(sent).toEqual([
    { text: 'part 1', part: 1, hasButtons: true },
    { text: 'part 0', part: 0, hasButtons: false },
    { text: 'part 1\n\nAnswered in the window: denied!', part: 1, hasButtons: false },
  ]);
});

test('sends while another program receives, and queues while offline', async () => {
  const { rig, line, ports, channel } = await open();
  rig.desk?.online(line, 'Another program polls this bot.');
  expect([ports.length, channel.state]).toEqual([1, 'conflict']);
  expect(channel.status()).toMatchObject({ state: 'offline', conflict: true, problem: 'Another program polls this bot.' });
  rig.desk?.online(line);
  expect([ports.length, channel.state]).toEqual([1, 'running']);
  expect(channel.status()).not.toHaveProperty('conflict');
  rig.desk?.offline('It cannot be reached.');
  expect([ports.length, channel.state]).toEqual([0, 'offline']);
  rig.desk?.online(line);
  expect([ports.length, channel.state]).toEqual([1, 'running']);
});

test('closes an answered question in the chat and retries a failure', async () => {
  const { rig, line, log, store, closed, approvals } = await open();
  rig.desk?.online(line);
  rig.failClosing = 2;
  approvals.set('apr_1', approvalOf('apr_1', { state: 'denied', decidedBy: 'window' }));
  log.append('system', [{ type: 'outbound.part_sent', body: { outboundId: 'out_1', part: 0, messageId: '55' } }]);
  await until(() => store.openQuestions().length === 0, 'it is closed');
  expect(closed).toMatchObject([{ chatId: '42', messageId: '55', text: 'Answered in the window: denied.' }]);
});

test('after a refusal, retries a new secret soon and the same one late', async () => {
  const tried: [secret: string, rests: number][] = [];
  const waits: number[] = [];
  const secretNow = (): string => (waits.length < 5 ? 'old' : 'new');
  const service = {
    secret: () => Promise.resolve(secretNow()),
    run: (_desk: ChatDesk, signal: AbortSignal): Promise<void> => {
      tried.push([secretNow(), waits.length]);
      if (secretNow() === 'old') return Promise.reject(new AppError('unauthorized', 'It does not hold.', { hint: '' }));
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  await open(service, waits);
  await until(() => tried.length === 3, 'the new one is tried');
  expect([tried, new Set(waits)]).toEqual([
    [
      ['old', 0],
      ['old', 4],
      ['new', 5],
    ],
    new Set([15_000]),
  ]);
});

test('a service without an account never runs, but knows its people', async () => {
  const { rig, channel, store } = await open({ isOff: true });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([rig.runs, channel.state, store.people().length]).toEqual([0, 'off', 1]);
});

test('fetches a file again after the connection ended during the fetch', async () => {
  const chat = { channel: 'telegram', chatId: '42', kind: 'private', senderId: '42', senderName: 'Ada' } as const;
  const files = [{ ref: 'f', name: 'a.txt', mediaType: null, sizeBytes: 1 }];
  const message: ChannelInbound = { ...chat, dedupeKey: 'm1', text: 'Look', atMs: 1, attachments: [], mentioned: false, files };
  const lineWith = (fetchFile: ChatLine['fetchFile']): ChatLine => ({ ...opened.line, ...(fetchFile === undefined ? {} : { fetchFile }) });
  let [fetching, ready, runs] = [false, false, 0];
  const opened = await open({
    run: async (desk, signal) => {
      runs += 1;
      if (runs === 1) {
        await until(() => ready, 'the rig is there');
        desk.online(
          lineWith((_file, { signal: whole }) => {
            fetching = true;
            return new Promise((_resolve, reject) => whole.addEventListener('abort', () => reject(new Error('ended'))));
          }),
        );
        await desk.take(message);
        await until(() => fetching, 'the file is being fetched');
        throw new AppError('fetch_failed', 'The connection is gone.', { hint: '' });
      }
      desk.online(lineWith(() => Promise.resolve(Buffer.from('x'))));
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  });
  ready = true;
  await until(() => opened.received.length > 0, 'the message is passed on');
  expect(opened.received.map(({ text, attachments }) => [text, attachments])).toEqual([['Look', [{ name: 'a.txt', base64: 'eA==' }]]]);
});
