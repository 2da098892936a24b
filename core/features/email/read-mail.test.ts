import { expect, test } from 'vitest';
import { openMail } from './read-mail.ts';

const trust = { address: 'agent@tray.example', authserv: 'mx.tray.example', secretWord: null };
const signed = [
  'Authentication-Results: mx.tray.example; dmarc=pass header.from=people.example',
  'From: ada@people.example',
  'To: agent@tray.example',
  'Subject: Pay the bill',
  'Date: Sat, 28 Nov 2026 10:00:00 +0000',
  'Message-ID: <one@people.example>',
  'References: <zero@people.example>',
  'In-Reply-To: <zero@people.example>',
  'Content-Type: text/plain',
];

function opened(headers: readonly string[]) {
  const envelope = { from: [{ address: 'ada@people.example' }], subject: 'Pay the bill' };
  const mail = { uid: 1, seq: 1, envelope, headers: Buffer.from(`${headers.join('\r\n')}\r\n\r\n`) };
  return openMail(mail, trust);
}

test('a mail is opened if each header is there at most once', () => {
  expect(opened(signed)).toMatchObject({ isProven: true, messageId: '<one@people.example>' });
});

// The signature of a mail that was sent before still holds below a header that was put on top.
test.each(['Message-ID: <two@people.example>', 'Subject: Again', 'Date: Sun, 29 Nov 2026 10:00:00 +0000', 'Content-Type: text/html'])(
  'a mail is refused that begins with a second %s',
  (header) => {
    expect(opened([header, ...signed])).toBeNull();
    expect(opened([...signed, header.toLowerCase()])).toBeNull();
  },
);
test.each(['References: <three@people.example>', 'in-reply-to: <three@people.example>', 'To: bob@people.example'])(
  'a mail with a second %s is refused',
  (header) => {
    expect(opened([header, ...signed])).toBeNull();
  },
);

test('shows a name and a subject in bytes of Windows-1252, and keeps those that are UTF-8', () => {
  const inHeaders = (text: string, encoding: BufferEncoding) => {
    const headers = Buffer.from(['From: "Zoë" <ada@people.example>', `Subject: ${text} <1>`, ...signed.slice(4)].join('\r\n'), encoding);
    const shown = headers.toString('utf8');
    const name = /"(.*)"/.exec(shown)?.[1] ?? '';
    const envelope = { from: [{ name, address: 'ada@people.example' }], subject: /^Subject: (.*?)\r?$/m.exec(shown)?.[1] ?? '' };
    const { name: from, subject } = openMail({ uid: 1, seq: 1, envelope, headers }, trust) ?? {};
    return { from, subject };
  };
  expect(inHeaders('Grüße', 'latin1')).toEqual({ from: 'Zoë', subject: 'Grüße <1>' });
  expect(inHeaders('Grüße €', 'utf8')).toEqual({ from: 'Zoë', subject: 'Grüße € <1>' });
});
