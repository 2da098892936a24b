import { createServer } from 'node:tls';
import { expect, test } from 'vitest';
import { needs } from '../../../tests/needs.ts';
import { forgetAuthorities, ownAuthority } from '../../../tests/rigs/own-authority.ts';
import { emailSchema } from '../../contracts/features/email.ts';
import { connectMailbox } from './mailbox.ts';
import { verifySending } from './mail-port.ts';

const { signal } = new AbortController();
const desk = { note: () => null, setNote: () => undefined, readFile: () => null };

function account(port: number) {
  const server = { host: '127.0.0.1', security: 'tls', port };
  return { settings: emailSchema.parse({ address: 'me@mail.example', imap: server, smtp: server }), password: undefined, desk };
}

test('mail servers of an authority that only the operating system knows are trusted, and no others', needs('Linux'), async () => {
  // Its greeting is one of SMTP, so the client of IMAP refuses it after the secure connection was made.
  const ports = await ownAuthority((identity) =>
    createServer(identity, (socket) => {
      socket.on('error', () => undefined).on('data', () => socket.write('250 ok\r\n'));
      socket.write('220 ready\r\n');
      socket.setTimeout(300, () => socket.destroy());
    }),
  );
  for (const client of [verifySending, connectMailbox]) {
    forgetAuthorities();
    await expect(client(account(ports.unknown), signal)).rejects.toThrow(/certificate .* NODE_EXTRA_CA_CERTS/);
  }
  forgetAuthorities();
  await verifySending(account(ports.known), signal);
  forgetAuthorities();
  await expect(connectMailbox(account(ports.known), signal)).rejects.toThrow(/is not the mail server that is expected there/);
});
