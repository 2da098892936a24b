// A port on loopback for a server that has to be told one.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range that the system hands out, so that no other test is given it before it is taken. */
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
