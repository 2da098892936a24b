// Starts and stops the scripted model server, builds its addresses, and replays a recorded turn with a bare fetch loop. That loop is the
// cost no client that uses fetch can avoid; overhead is measured against it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ToolName } from './replies.ts';
import type { RecordedCall } from './server.ts';

export type { RecordedCall } from './server.ts';

export interface Script {
  /** The number of tool calls before the closing answer, one per request. */
  readonly toolCalls: number;
  readonly tool: ToolName;
}

export interface ModelServer {
  readonly origin: string;
  close(): Promise<void>;
}

export async function startModelServer(): Promise<ModelServer> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('server.ts', import.meta.url))], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}

/** The base address of a lane, up to and including its version part. */
export function laneUrl(origin: string, lane: string, script: Script): string {
  return `${origin}/${lane}/${script.toolCalls}/${script.tool}/v1`;
}

export interface LaneRecord {
  readonly requests: number;
  readonly lastTurn: readonly RecordedCall[];
}

export async function readLane(origin: string, lane: string): Promise<LaneRecord> {
  const response = await fetch(`${origin}/control/${lane}`);
  return (await response.json()) as LaneRecord;
}

/** Sends the recorded calls again, one after the other, and parses every line of every reply. Returns the number of parsed documents. */
export async function replay(origin: string, calls: readonly RecordedCall[]): Promise<number> {
  let parsed = 0;
  for (const call of calls) {
    const response = await fetch(origin + call.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
      body: call.body,
    });
    if (call.streams) parsed += await readEvents(response);
    else {
      await response.json();
      parsed += 1;
    }
  }
  return parsed;
}

async function readEvents(response: Response): Promise<number> {
  if (response.body === null) return 0;
  const decoder = new TextDecoder();
  let rest = '';
  let parsed = 0;
  for await (const part of response.body) {
    rest += decoder.decode(part, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
      JSON.parse(line.slice(6));
      parsed += 1;
    }
  }
  return parsed;
}
