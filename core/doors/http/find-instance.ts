// Finds the running instance that owns a data folder. Trusts only a socket of the same user.

import type { Claw } from '../../contracts/claw.ts';
import { HttpClaw } from './http-client.ts';
import { readText, sendExchange } from './http-exchange.ts';
import { isOwnSocket, readInstanceFile, type InstanceRecord } from '../../store/home/home.ts';

const answerWithinMs = 2_000;

export interface RunningInstance {
  readonly record: InstanceRecord;
  readonly claw: Claw;
  /** Asks the tray app to serve. Fails with `port_in_use`. Absent in any other instance. */
  readonly serve?: (port?: number) => Promise<{ readonly url: string }>;
}

export async function findInstance(home: string): Promise<RunningInstance | null> {
  const record = readInstanceFile(home);
  if (record === null || !isOwnSocket(record.socketPath)) return null;
  const address = { socketPath: record.socketPath };
  if (!(await answers(address))) return null;
  const claw = new HttpClaw({ address, token: record.token });
  return { record, claw, ...(record.isApp && { serve: (port) => claw.serve(port) }) };
}

async function answers(address: { socketPath: string }): Promise<boolean> {
  const signal = AbortSignal.timeout(answerWithinMs);
  try {
    const response = await sendExchange(address, { method: 'GET', path: '/health', headers: {}, signal });
    await readText(response, signal);
    return response.statusCode === 200;
  } catch {
    // Refused, missing or unresponsive: not a live instance. If its process still holds the folder, opening the store reports it.
    return false;
  }
}
