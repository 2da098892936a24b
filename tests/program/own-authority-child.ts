// Asks each server with one of the program's clients, in a process that trusts only the authorities of Node before each of them, and prints
// `ok` or the error message of each.

import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { emailSchema } from '../../core/contracts/features/email.ts';
import { verifySending } from '../../core/features/email/mail-port.ts';
import { connectMailbox } from '../../core/features/email/mailbox.ts';
import { GuardedFetch, proxiedFetch } from '../../core/guard/egress/egress.ts';
import { OneOriginCheck } from '../../core/guard/safety/safety.ts';
import { HttpTransport } from '../../core/mind/llm/http-transport.ts';
import { requestOnce } from '../../core/mind/llm/single-request.ts';

const [webPort, smtpPort, imapPort] = process.argv.slice(2).map(Number);
const url = `https://127.0.0.1:${webPort}/`;
const { signal } = new AbortController();
const limits = { connectMs: 9_000, headersMs: 9_000, idleMs: 9_000, totalMs: 9_000, bytesMax: 1_000 };
const server = { host: '127.0.0.1', security: 'tls' };
const imap = { ...server, port: imapPort, password: 'env:WORD' };
const settings = emailSchema.parse({ address: 'me@mail.example', imap, smtp: { ...server, port: smtpPort } });
const account = { settings, password: undefined, desk: { note: () => null, setNote: () => undefined, readFile: () => null } };

const clients: readonly (() => Promise<unknown>)[] = [
  () => proxiedFetch(fetch)(url, { method: 'POST', body: 'x', redirect: 'error' }),
  () => new GuardedFetch({ judge: new OneOriginCheck(url), limits }).fetch({ url }, signal),
  () => requestOnce(new URL(url), { bytesMax: 1_000, signal }),
  async () => {
    const transport = new HttpTransport({ provider: 'lab', origin: new URL(url).origin, connectTimeoutMs: 9_000 });
    const reader = { head: () => undefined, data: () => true, end: () => undefined };
    await transport.post({ path: '/', headers: [], body: Buffer.from('x') }, reader, signal);
    await transport.close();
  },
  () => verifySending(account, signal),
  () => connectMailbox(account, signal),
];

const said: string[] = [];
for (const client of clients) {
  setDefaultCACertificates(getCACertificates('bundled'));
  said.push(
    await client().then(
      () => 'ok',
      (cause: unknown) => (cause instanceof Error ? cause.message : 'no error'),
    ),
  );
}
process.stdout.write(JSON.stringify(said), () => process.exit(0));
