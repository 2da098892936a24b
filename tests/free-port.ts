// Finds a port on loopback for a server that must be given one.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the system's ephemeral range, so that no other test gets the port before it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if (await isPortFree(port)) return port;
  }
}

export async function isPortFree(port: number): Promise<boolean> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  if (isFree) await new Promise((resolve) => probe.close(resolve));
  return isFree;
}
