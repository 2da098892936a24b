// Signatures of webhook senders: Standard Webhooks 1.0 (https://www.standardwebhooks.com), which cover the id and the time, and the older
// form of GitHub, which covers the body alone. Pure.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HookSignature } from '../../contracts/features/signals.ts';

export type SignatureForm = 'standard' | 'github';

const TOLERANCE_S = 300;
const base64Secret = /^whsec_/;

/** The secret is not empty. */
export function isSigned(form: SignatureForm, given: HookSignature, body: string, by: { secret: string; nowMs: number }): boolean {
  const { id = '', timestamp = '', standard = '', github = '' } = given;
  if (form === 'github') return isSame(github, `sha256=${createHmac('sha256', by.secret).update(body).digest('hex')}`);
  const ageS = by.nowMs / 1000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN);
  const key = base64Secret.test(by.secret) ? Buffer.from(by.secret.replace(base64Secret, ''), 'base64') : Buffer.from(by.secret);
  if (!(Math.abs(ageS) <= TOLERANCE_S) || id === '' || key.length === 0) return false;
  const right = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return standard.split(' ').some((one) => isSame(one, right));
}

/** In constant time for texts of one length; the length of a signature is no secret. */
function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
