// Not a peer but a lower bound: about the least a durable agent turn can cost in this language. One append-only table, the request kept as
// one growing text, undici without fetch, a small parser. It enforces no policy, recovers nothing and trusts the server.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Pool } from 'undici';
import * as z from 'zod';
import { assertAnswer, systemText, type OpenSubject } from '../subjects/subject.ts';

interface Call {
  id: string;
  name: string;
  args: string;
}

interface Reply {
  text: string;
  readonly calls: Call[];
}

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
  }[];
}

const STEPS_MAX = 64;
const headers = { 'content-type': 'application/json', authorization: 'Bearer x' };
const argsSchema = z.object({ key: z.string(), n: z.number() });
const lookupTool = {
  type: 'function',
  function: { name: 'lookup', description: 'Look a key up', parameters: z.toJSONSchema(argsSchema) },
};
const prefix =
  `{"model":"bench","stream":true,"stream_options":{"include_usage":true},"tools":${JSON.stringify([lookupTool])},"messages":[` +
  JSON.stringify({ role: 'system', content: systemText });

export const openFloor: OpenSubject = (place) => {
  const { origin, pathname } = new URL(place.baseUrl);
  const pool = new Pool(origin, { connections: 2, pipelining: 1 });
  const log = openEventTable(join(place.folder, 'floor.db'));
  let history = prefix;
  const add = (type: string, message: object): void => {
    const text = JSON.stringify(message);
    log.append(type, text);
    history += `,${text}`;
  };
  const turn = async (text: string): Promise<void> => {
    if (place.session === 'fresh') history = prefix;
    add('user', { role: 'user', content: text });
    for (let step = 0; step < STEPS_MAX; step++) {
      const reply = await request(pool, `${pathname}/chat/completions`, `${history}]}`);
      add('assistant', assistantMessage(reply));
      if (reply.calls.length === 0) {
        assertAnswer(reply.text);
        return;
      }
      for (const call of reply.calls) {
        log.append('tool.start', call.id);
        const { key } = argsSchema.parse(JSON.parse(call.args));
        add('tool.result', { role: 'tool', tool_call_id: call.id, content: `value-of-${key}` });
      }
    }
    throw new Error('the turn did not end');
  };
  const close = async (): Promise<void> => {
    log.close();
    await pool.close();
  };
  return Promise.resolve({ turn, syncMs: () => 0, close });
};

function openEventTable(file: string): { append(type: string, body: string): void; close(): void } {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.exec('CREATE TABLE events (seq INTEGER PRIMARY KEY, at_ms INTEGER, type TEXT, body TEXT)');
  const insert = db.prepare('INSERT INTO events (at_ms, type, body) VALUES (?, ?, ?)');
  return { append: (type, body) => void insert.run(Date.now(), type, body), close: () => void db.close() };
}

function assistantMessage({ text, calls }: Reply): object {
  if (calls.length === 0) return { role: 'assistant', content: text };
  const asked = calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } }));
  return { role: 'assistant', content: text === '' ? null : text, tool_calls: asked };
}

function request(pool: Pool, path: string, body: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const reply: Reply = { text: '', calls: [] };
    let rest = '';
    let statusCode = 0;
    pool.dispatch(
      { path, method: 'POST', headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, status) => {
          statusCode = status;
        },
        onResponseData: (_controller, data) => {
          const lines = (rest + data.toString('utf8')).split('\n\n');
          rest = lines.pop() ?? '';
          for (const line of lines) if (line !== 'data: [DONE]') takeChunk(reply, JSON.parse(line.slice(6)) as Chunk);
        },
        onResponseEnd: () => {
          if (statusCode === 200) resolve(reply);
          else reject(new Error(`the model answered ${statusCode}`));
        },
        onResponseError: (_controller, cause) => {
          reject(cause);
        },
      },
    );
  });
}

function takeChunk(reply: Reply, chunk: Chunk): void {
  const delta = chunk.choices[0]?.delta;
  if (delta === undefined) return;
  reply.text += delta.content ?? '';
  for (const { index, id, function: part } of delta.tool_calls ?? []) {
    const call = (reply.calls[index] ??= { id: '', name: '', args: '' });
    call.id += id ?? '';
    call.name += part?.name ?? '';
    call.args += part?.arguments ?? '';
  }
}
