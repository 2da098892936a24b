// Has the server show that it knows the token, without sending the token. After TrayClaw has ended, any program can listen on its port.

import { valueAt, jsonIn } from '../../core/base/json.ts';
import { proofText } from '../../core/base/server-proof.ts';

/** silent: it did not answer, or has too much to do. stranger: it does not know the token. */
export type Proof = 'proven' | 'stranger' | 'silent';

export type ProveServer = typeof proveServer;

const withinMs = 10_000;

export async function proveServer(send: typeof globalThis.fetch, origin: string, token: string): Promise<Proof> {
  const nonce = hex(crypto.getRandomValues(new Uint8Array(32)));
  let answer: string;
  try {
    const response = await send(`${origin}/api/prove?nonce=${nonce}`, { cache: 'no-store', signal: AbortSignal.timeout(withinMs) });
    if (response.status === 429 || response.status >= 500) return 'silent';
    answer = await response.text();
  } catch {
    return 'silent';
  }
  const proofs = valueAt(jsonIn(answer), 'result.proofs');
  return Array.isArray(proofs) && proofs.includes(await sign(proofText(origin, nonce), token)) ? 'proven' : 'stranger';
}

async function sign(text: string, token: string): Promise<string> {
  const bytes = new TextEncoder();
  const digest = await crypto.subtle.digest('SHA-256', bytes.encode(token));
  const key = await crypto.subtle.importKey('raw', digest, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return hex(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes.encode(text))));
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
