import { expect, test } from 'vitest';
import { unreachableWords } from './unreachable.ts';

test.each([
  [{ code: 'ESOCKET', originalCode: 'ECONNREFUSED' }, 'Nothing answers at the mail server imap.example:993.'],
  [{ code: 'EDNS' }, 'The host of the mail server imap.example:993 cannot be found.'],
  [{ cause: { code: 'ECONNREFUSED' } }, 'Nothing answers at the mail server imap.example:993.'],
  [
    { code: 'CERT_HAS_EXPIRED', tlsFailed: true },
    'The certificate of the mail server imap.example:993 cannot be trusted (CERT_HAS_EXPIRED).',
  ],
  [
    { tlsFailed: true },
    'No secure connection to the mail server imap.example:993 could be made: it offers no STARTTLS. Set security to tls, with the port for it.',
  ],
  [{ code: 'ESOCKET' }, 'The mail server imap.example:993 could not be reached (ESOCKET).'],
  [
    { code: 'ClosedAfterConnectTLS', reason: 'Too many connections.' },
    'The mail server imap.example:993 closed the connection: Too many connections.',
  ],
  [new Error('anything else'), 'The mail server imap.example:993 could not be reached.'],
])('explains a failed connection: %j', (cause, words) => {
  expect(unreachableWords(cause, { host: 'imap.example', port: 993 })).toBe(words);
});
