// For tests only: people who write mail to the agent over a real server and read the answers.

import { createTransport } from 'nodemailer';
import type { BenchPerson, ChannelBench } from '../../channels/conformance-rig.ts';
import { MailServer } from './mail-server.ts';

export const agentAddress = 'agent@tray.example';
export const authserv = 'mx.tray.example';

export class MailBench {
  readonly server: MailServer;

  private constructor(server: MailServer) {
    this.server = server;
  }

  static async start(): Promise<MailBench> {
    return new MailBench(await MailServer.start());
  }

  get channels() {
    const loopback = { host: '127.0.0.1', security: 'plain' as const };
    return {
      email: {
        address: agentAddress,
        authserv,
        imap: { ...loopback, port: this.server.imapPort, user: 'agent', password: 'env:TEST_MAIL_PASSWORD' },
        smtp: { ...loopback, port: this.server.smtpPort('people') },
      },
    };
  }

  person(name: string): MailPerson {
    return new MailPerson(this.server, name);
  }

  get bench(): ChannelBench {
    return {
      channels: this.channels,
      environment: { TEST_MAIL_PASSWORD: 'right-password' },
      answersStrangers: false,
      isPlain: true,
      person: (name) => this.person(name),
      cut: () => this.server.cutImap(),
      stop: () => this.server.stop(),
    };
  }
}

interface Received {
  readonly headers: string;
  readonly text: string;
  readonly messageId: string;
}

export interface MailMore {
  readonly subject?: string;
  readonly headers?: Record<string, string>;
  /** The authentication verdict that the receiving server would add; null for none. */
  readonly verdict?: string | null;
  readonly to?: string;
  readonly from?: string;
  readonly attachments?: { filename: string; content: string }[];
  readonly messageId?: string;
  readonly html?: string;
}

export class MailPerson implements BenchPerson {
  readonly id: string;
  readonly #server: MailServer;

  constructor(server: MailServer, name: string) {
    this.#server = server;
    this.id = `${name}@people.example`;
  }

  /** Writes in the thread of the newest received mail, as a person answers. */
  async write(text: string, more: MailMore = {}): Promise<void> {
    const {
      from = this.id,
      verdict = `${authserv}; dmarc=pass header.from=people.example`,
      headers = {},
      to = agentAddress,
      ...rest
    } = more;
    const transport = createTransport({ host: '127.0.0.1', port: this.#server.smtpPort('agent'), secure: false, ignoreTLS: true });
    await transport.sendMail({
      from,
      to,
      subject: '',
      text,
      envelope: { from: this.id, to: [agentAddress] },
      headers: { ...(verdict === null ? {} : { 'Authentication-Results': verdict }), ...headers },
      ...this.#thread(more),
      ...rest,
    });
    transport.close();
  }

  #thread({ subject }: MailMore): { inReplyTo?: string; references?: string[] } {
    const first = this.received().find(({ headers }) => /^subject: re:/im.test(headers));
    return first === undefined || subject !== undefined ? {} : { inReplyTo: first.messageId, references: referencesOf(first) };
  }

  sendFile(name: string, content: string, text: string): Promise<void> {
    return this.write(text, { attachments: [{ filename: name, content }] });
  }

  received(): Received[] {
    return this.#server
      .mails('people')
      .map(readMail)
      .filter(({ headers }) => headers.toLowerCase().includes(`\nto: ${this.id}`));
  }

  heard(): string[] {
    return this.received().map(({ text }) => text);
  }

  answer(choice: 'yes' | 'no'): Promise<void> {
    return this.#reply(choice, '');
  }

  choose(value: string): Promise<void> {
    return this.#reply('yes', `: ${value}`);
  }

  async #reply(choice: string, more: string): Promise<void> {
    const question = this.received().findLast(({ text }) => /^ {4}yes \w+/m.test(text));
    const code = /^ {4}yes (\w+)/m.exec(question?.text ?? '')?.[1];
    if (question === undefined || code === undefined) throw new Error('there is no question');
    const quoted = question.text.replaceAll(/^/gm, '> ');
    await this.write(`${choice} ${code}${more}\n\nOn Monday, TrayClaw wrote:\n${quoted}`, {
      headers: { 'In-Reply-To': question.messageId, References: question.messageId },
    });
  }
}

function referencesOf({ headers, messageId }: Received): string[] {
  const unfolded = headers.replaceAll(/\r?\n[ \t]+/g, ' ');
  return [...(/^references: (.*)$/im.exec(unfolded)?.[1]?.match(/<[^>]+>/g) ?? []), messageId];
}

/** Parses the plain text of a mail that nodemailer wrote. */
function readMail(raw: string): Received {
  const mail = raw.replaceAll('\r\n', '\n');
  const border = mail.indexOf('\n\n');
  const headers = `\n${mail.slice(0, border)}`;
  const encoding = /content-transfer-encoding: (\S+)/i.exec(headers)?.[1] ?? '7bit';
  const body = mail.slice(border + 2);
  return {
    headers,
    messageId: /^message-id: (<[^>]+>)/im.exec(headers)?.[1] ?? '',
    text: decode(body, encoding.toLowerCase()).trim(),
  };
}

function decode(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replaceAll(/=\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
