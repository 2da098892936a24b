import { expect, test } from 'vitest';
import { whyUnreachable } from './unreachable.ts';

test.each([
  [{ code: 'ESOCKET', errno: -111 }, 'takes no connection on that port'],
  [{ code: 'ENOTFOUND' }, 'is not known by that name'],
  [{ code: 'EDNS' }, 'is not known by that name'],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'shows a certificate that cannot be trusted'],
  [{ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }, 'speaks another kind of security on that port'],
  [{ cause: { code: 'ECONNREFUSED' } }, 'takes no connection on that port'],
  [new Error('anything else'), 'cannot be reached'],
])('explains a failed connection: %j', (cause, words) => {
  expect(whyUnreachable(cause)).toBe(words);
});
