import { GrammyError, HttpError } from 'grammy/web';
import { expect, test } from 'vitest';
import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import type { ChannelPort, OutboundItem, SendOutcome } from '../../contracts/channels.ts';
import type { FileMessage, TextMessage } from './bot-api.ts';
import { createChatPort } from './chat-port.ts';

const refused = (code: number, description: string, parameters = {}): GrammyError =>
  new GrammyError('failed', { ok: false, error_code: code, description, parameters }, 'sendMessage', {});
const network = (code: string): HttpError =>
  new HttpError('failed', new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) }));
const noMessage = refused(400, 'Bad Request: message to edit not found');

const itemOf = (change: Partial<OutboundItem> = {}): Redacted<OutboundItem> =>
  stillRedacted({
    outboundId: 'out_1',
    to: { channel: 'telegram', chatId: '42' },
    kind: 'reply',
    text: 'some **words**',
    files: [],
    idempotencyKey: 'k',
    sessionId: 'ses_1',
    turnId: 'trn_1',
    ...change,
  });

function open(failures: Error[] = []) {
  const texts: TextMessage[] = [];
  const files: FileMessage[] = [];
  const edits: TextMessage[] = [];
  const fail = (): Promise<never> | null => {
    const failure = failures.shift();
    return failure === undefined ? null : Promise.reject(failure);
  };
  const port = createChatPort({
    api: {
      sendText: (message) => fail() ?? Promise.resolve(`t${texts.push(message)}`),
      sendFile: (message) => fail() ?? Promise.resolve(`f${files.push(message)}`),
      editText: (message) => fail() ?? Promise.resolve(void edits.push(message)),
    },
    readFile: (sha256) => (sha256 === 'gone' ? null : Buffer.from('content')),
  });
  return { port, texts, files, edits };
}

async function sendAll(port: ChannelPort, item: Redacted<OutboundItem>, shownIn?: string): Promise<SendOutcome[]> {
  const parts = port.split(item);
  const outcomes: SendOutcome[] = [];
  for (const [part, content] of parts.entries()) {
    const shown = shownIn === undefined ? {} : { shownIn };
    const outbound = { ...content, item, part, parts: parts.length, attempt: 1, idempotencyKey: `k/${part}`, ...shown };
    outcomes.push(await port.send(outbound, new AbortController().signal));
  }
  return outcomes;
}

test.each([
  [network('ECONNREFUSED'), { kind: 'refused', isRetryable: true, retryAfterMs: null }],
  [network('ENOTFOUND'), { kind: 'refused', isRetryable: true, retryAfterMs: null }],
  [network('UND_ERR_CONNECT_TIMEOUT'), { kind: 'refused', isRetryable: true, retryAfterMs: null }],
  [network('ECONNRESET'), { kind: 'unknown' }],
  [network('UND_ERR_SOCKET'), { kind: 'unknown' }],
  [network('ETIMEDOUT'), { kind: 'unknown' }],
  [new Error('Request timed out after 60 seconds'), { kind: 'unknown' }],
  [refused(502, 'Bad Gateway'), { kind: 'unknown' }],
  [refused(429, 'Too Many Requests: retry after 7', { retry_after: 7 }), { kind: 'refused', retryAfterMs: 7_000 }],
  [refused(403, 'Forbidden: bot was blocked by the user'), { kind: 'refused', isRetryable: false, retryAfterMs: null }],
  [refused(401, 'Unauthorized'), { kind: 'refused', isRetryable: true }],
  [refused(400, 'Bad Request: chat not found'), { kind: 'refused', isRetryable: false }],
])('the outcome is reported truthfully: %s', async (failure, outcome) => {
  const { port, texts } = open([failure]);
  expect(await sendAll(port, itemOf())).toMatchObject([outcome]);
  expect(texts).toEqual([]);
});

test('text that cannot be parsed is resent plain; nothing else is resent', async () => {
  const { port, texts } = open([refused(400, "Bad Request: can't parse entities: Unexpected end tag at byte offset 3")]);
  expect(await sendAll(port, itemOf({ text: 'a < **b**' }))).toEqual([{ kind: 'sent', messageId: 't1' }]);
  expect(texts).toMatchObject([{ text: 'a < b', isHtml: false }]);
});

test('the buttons are under the last text, the reply is at the first', async () => {
  const { port, texts } = open();
  const buttons = [[{ label: 'Yes', data: 'y' }]];
  await sendAll(port, itemOf({ kind: 'question', text: 'word '.repeat(1_500), buttons, replyToMessageId: '9' }));
  expect(texts.map((message) => [message.buttons === undefined, message.replyTo])).toEqual([
    [true, '9'],
    [false, undefined],
  ]);
});

test('an answer added to a question is escaped, and room for it is reserved', () => {
  const { port } = open();
  expect(port.escape?.('<b> & more')).toBe('&lt;b&gt; &amp; more');
  const [part] = port.split(itemOf({ kind: 'question', text: 'word '.repeat(5_000) }));
  expect((part?.text.length ?? 0) + 2 + (port.escape?.('x'.repeat(1_000)).length ?? 0)).toBeLessThanOrEqual(4_096);
});

test('a preview becomes the answer; an edit with an unknown outcome is repeated', async () => {
  const { port, texts, edits } = open([network('ECONNRESET')]);
  expect(await sendAll(port, itemOf(), '77')).toEqual([{ kind: 'sent', messageId: '77' }]);
  expect([texts.length, edits.length]).toEqual([0, 1]);
  const same = open([refused(400, 'Bad Request: message is not modified: the same')]);
  expect(await sendAll(same.port, itemOf(), '77')).toEqual([{ kind: 'sent', messageId: '77' }]);
  const gone = open([noMessage]);
  expect(await sendAll(gone.port, itemOf(), '77')).toEqual([{ kind: 'sent', messageId: 't1' }]);
});

test('files follow the text: pictures as photos, or as files if Telegram refuses', async () => {
  const file = (name: string, mediaType: string, sha256 = 'x') => ({ sha256, name, mediaType, sizeBytes: 7 });
  const { port, texts, files } = open();
  await sendAll(port, itemOf({ files: [file('a.png', 'image/png'), file('b.txt', 'text/plain')] }));
  expect([texts.length, files.map(({ name, isPhoto }) => [name, isPhoto])]).toEqual([
    1,
    [
      ['a.png', true],
      ['b.txt', false],
    ],
  ]);
  const odd = open([refused(400, 'Bad Request: IMAGE_PROCESS_FAILED')]);
  expect(await sendAll(odd.port, itemOf({ text: '', files: [file('a.png', 'image/png')] }))).toEqual([{ kind: 'sent', messageId: 'f1' }]);
  expect(odd.files).toMatchObject([{ isPhoto: false }]);
  const lost = open();
  expect(await sendAll(lost.port, itemOf({ text: '', files: [file('a', 'text/plain', 'gone')] }))).toMatchObject([
    { kind: 'refused', isRetryable: false },
  ]);
});

test('no failure contains the address of a call, which includes the token', async () => {
  const cause = Object.assign(new Error('request to http://127.0.0.1/bot123:secret/sendMessage failed'), { code: 'ECONNRESET' });
  const { port } = open([new HttpError('failed', cause)]);
  expect(JSON.stringify(await sendAll(port, itemOf()))).not.toContain('secret');
});
