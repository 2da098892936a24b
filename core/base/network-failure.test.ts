import { expect, test } from 'vitest';
import { isNeverSent, networkCode, networkSentence } from './network-failure.ts';

const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

test.each([
  [
    'fetch, which wraps one error for each address',
    new TypeError('fetch failed', { cause: new AggregateError([refused, refused]) }),
    'ECONNREFUSED',
  ],
  ['an error with a code of its own around it', Object.assign(new Error('x', { cause: refused }), { code: 'ERA_FAILED' }), 'ECONNREFUSED'],
  ['a code that is not of a connection', Object.assign(new Error('x'), { code: 'ERR_INVALID_CHAR' }), 'ERR_INVALID_CHAR'],
  ['the HTTP parser', Object.assign(new Error('x'), { name: 'HTTPParserError' }), 'HPE_INVALID'],
  ['no code', new Error('x'), null],
])('finds the code of %s', (_name, cause, code) => {
  expect(networkCode(cause)).toBe(code);
});

test('ends at an error that causes itself', () => {
  const cause = new Error('x');
  cause.cause = cause;
  expect(networkCode(cause)).toBeNull();
});

test.each([
  ['ECONNREFUSED', 'Nothing answers at the server x.', true],
  ['EHOSTUNREACH', 'The server x cannot be reached from this computer.', true],
  ['ENOTFOUND', 'The host of the server x cannot be found.', true],
  ['UND_ERR_CONNECT_TIMEOUT', 'The server x did not answer in time.', true],
  ['UND_ERR_HEADERS_TIMEOUT', 'The server x did not answer in time.', false],
  ['ECONNRESET', 'The server x closed the connection.', false],
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    /^The certificate of the server x cannot be trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. If .* NODE_EXTRA_CA_CERTS\.$/,
    true,
  ],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', /^No secure connection to the server x could be made/, false],
  ['HPE_INVALID_CONSTANT', 'The server x did not answer in valid HTTP.', false],
  ['EOTHER', 'The server x could not be reached (EOTHER).', false],
  [null, 'The server x could not be reached.', false],
])('%s: a sentence, and whether anything was sent', (code, sentence, neverSent) => {
  expect(networkSentence(code, 'the server x')).toEqual(typeof sentence === 'string' ? sentence : expect.stringMatching(sentence));
  expect(isNeverSent(code)).toBe(neverSent);
});
