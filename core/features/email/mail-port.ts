// The outbox's port to mail: an item is one mail with all its files, in its thread. SMTP does not deduplicate, so a mail with an unknown
// outcome is not sent again.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ChannelPort, ChatDesk, OutboundPart, SendOutcome } from '../../contracts/channels.ts';
import { AppError } from '../../contracts/errors.ts';
import type { EmailConfig } from '../../contracts/features/email.ts';
import { withSystemAuthorities } from '../../guard/egress/egress.ts';
import { sentNote } from './read-mail.ts';
import { unreachableWords, type MailAddress } from './unreachable.ts';

export interface MailPortDeps {
  readonly settings: EmailConfig;
  readonly password: string | undefined;
  readonly desk: Pick<ChatDesk, 'note' | 'setNote' | 'readFile'>;
}

const MAIL_BYTES_MAX = 20_000_000;
const SMTP_MS = 30_000;

export function createMailPort(deps: MailPortDeps): ChannelPort {
  return {
    name: 'email',
    maxFileBytes: MAIL_BYTES_MAX,
    split: ({ text, files }) => [{ text, files }],
    send: (part, signal) => send(deps, part, signal),
  };
}

interface Thread {
  readonly subject: string;
  readonly references: readonly string[];
}

function threadOf({ desk }: MailPortDeps, { item }: OutboundPart): Thread | null {
  const kept = item.to.threadId === undefined ? null : desk.note(`thread:${item.to.threadId}`);
  return kept === null ? null : (JSON.parse(kept) as Thread);
}

async function send(deps: MailPortDeps, part: OutboundPart, signal: AbortSignal): Promise<SendOutcome> {
  const { createTransport } = await import('nodemailer');
  const messageId = `<${createHash('sha256').update(part.idempotencyKey).digest('hex').slice(0, 40)}@${domainOf(deps)}>`;
  const written = await write(deps, part, messageId);
  if (typeof written === 'string') return { kind: 'refused', error: written, retryAfterMs: null, isRetryable: false };
  const transport = createTransport(serverOf(deps));
  // The stream is read only after the server has agreed to take the mail. Before that the server has received nothing of it.
  let hasBegun = false;
  const raw = Readable.from(
    (function* () {
      hasBegun = true;
      yield written;
    })(),
  );
  const stop = (): void => transport.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await withSystemAuthorities(() => transport.sendMail({ envelope: { from: deps.settings.address, to: [part.item.to.chatId] }, raw }));
    const { threadId } = part.item.to;
    if (threadId !== undefined) deps.desk.setNote(sentNote(messageId), threadId);
    return { kind: 'sent', messageId };
  } catch (cause) {
    return outcomeOf(cause, hasBegun, deps.settings.smtp);
  } finally {
    signal.removeEventListener('abort', stop);
    transport.close();
  }
}

function serverOf({ settings: { smtp, address }, password }: MailPortDeps) {
  const { host, port, security, user } = smtp;
  return {
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'plain',
    connectionTimeout: SMTP_MS,
    greetingTimeout: SMTP_MS,
    ...(user === undefined && password === undefined ? {} : { auth: { user: user ?? address, pass: password ?? '' } }),
  };
}

/** Signs in to the outgoing server without sending anything. */
export async function verifySending(deps: MailPortDeps, signal: AbortSignal): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport(serverOf(deps));
  const stop = (): void => transport.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await withSystemAuthorities(() => transport.verify());
  } catch (cause) {
    const outcome = outcomeOf(cause, false, deps.settings.smtp);
    const message = outcome.kind === 'refused' ? outcome.error : 'The mail server did not answer.';
    const { code } = cause as { code?: string };
    throw new AppError('fetch_failed', message, { data: { field: code === 'EAUTH' ? 'smtp.password' : 'smtp.host' }, hint: '', cause });
  } finally {
    signal.removeEventListener('abort', stop);
    transport.close();
  }
}

function domainOf({ settings }: MailPortDeps): string {
  return settings.address.slice(settings.address.lastIndexOf('@') + 1);
}

/** Returns the complete mail as it is sent, or an error message if a file is missing. */
async function write(deps: MailPortDeps, part: OutboundPart, messageId: string): Promise<Buffer | string> {
  const { createTransport } = await import('nodemailer');
  const { item, text } = part;
  const thread = threadOf(deps, part);
  const attachments: { filename: string; content: Buffer; contentType: string }[] = [];
  for (const file of part.files) {
    const bytes = deps.desk.readFile(file.sha256);
    if (bytes === null) return `The file ${file.name} is no longer kept.`;
    attachments.push({ filename: file.name, content: Buffer.from(bytes), contentType: file.mediaType });
  }
  const inReplyTo = item.replyToMessageId ?? thread?.references.at(-1);
  const references = [...(thread?.references ?? []), ...(inReplyTo === undefined ? [] : [inReplyTo])];
  const { message } = await createTransport({ streamTransport: true, buffer: true }).sendMail({
    messageId,
    from: { name: 'TrayClaw', address: deps.settings.address },
    to: item.to.chatId,
    subject: subjectOf(part, thread),
    ...(inReplyTo === undefined ? {} : { inReplyTo, references: [...new Set(references)] }),
    // RFC 3834: asks other programs not to answer.
    headers: { 'Auto-Submitted': item.kind === 'reply' ? 'auto-replied' : 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    text,
    attachments,
    // The model's text must not make the library read files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return message as Buffer;
}

function subjectOf({ item }: OutboundPart, thread: Thread | null): string {
  if (thread !== null && thread.subject !== '') return /^re:/i.test(thread.subject) ? thread.subject : `Re: ${thread.subject}`;
  return item.kind === 'question' ? 'TrayClaw asks for your approval' : 'TrayClaw';
}

/** A reply code states the outcome. Without one, the mail may have been delivered once any byte of it was read. */
function outcomeOf(cause: unknown, hasBegun: boolean, server: MailAddress): SendOutcome {
  const { host } = server;
  const { code, responseCode, response } = cause as { code?: string; responseCode?: number; response?: string };
  if (responseCode !== undefined && responseCode >= 400 && code !== 'ETLS') {
    const isRetryable = responseCode < 500 || code === 'EAUTH';
    const error =
      code === 'EAUTH'
        ? `The mail server ${host} does not take the user name and password for sending.`
        : `The mail server ${host} refused it: ${(response ?? String(responseCode)).slice(0, 300)}`;
    return { kind: 'refused', error, retryAfterMs: null, isRetryable };
  }
  if (hasBegun) return { kind: 'unknown', reason: `The connection to ${host} was lost while the mail was sent.` };
  return { kind: 'refused', error: unreachableWords(cause, server), retryAfterMs: null, isRetryable: true };
}
