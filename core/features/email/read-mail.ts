// Converts a mail into the common form of all channels: sender, thread, text, files, and whether the sender is proven. Downloads only what
// is needed, within limits. Does not decide who may write.

import { isUtf8 } from 'node:buffer';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FetchMessageObject, ImapFlow, MessageStructureObject } from 'imapflow';
import type { Attachment } from '../../contracts/attachments.ts';
import type { ChannelInbound } from '../../contracts/channels.ts';
import { textOfHtml } from '../../hands/tools/tools.ts';
import { looksLikeCode } from '../../runtime/chats/chats.ts';
import { isAutomatic, isProven, messageIds, readHeaders, valuesOf, type Header } from './mail-headers.ts';
import { splitQuoted } from './mail-text.ts';

export interface Trust {
  readonly address: string;
  readonly authserv: string | undefined;
  readonly secretWord: string | null;
}

export interface Opened {
  readonly uid: string;
  readonly from: string;
  readonly name: string;
  readonly isProven: boolean;
  readonly isAutomatic: boolean;
  readonly messageId: string;
  /** The ids of the thread from its first mail to this one. */
  readonly references: readonly string[];
  readonly subject: string;
  readonly sizeBytes: number;
  readonly atMs: number;
  readonly structure: MessageStructureObject | undefined;
}

/** Leaves room for the subject in a message. */
const TEXT_BYTES_MAX = 900_000;
const REFERENCES_MAX = 20;
const PARTS_MAX = 60;

export const openingQuery = { uid: true, envelope: true, internalDate: true, size: true, bodyStructure: true, headers: true } as const;

/** RFC 5322, 3.6. A signature covers only one of two headers of a name: a second one would make an old mail a new one. */
const onceAtMost = ['message-id', 'subject', 'date', 'references', 'in-reply-to', 'to', 'content-type'];

/** Null if the mail does not have exactly one valid sender, or repeats a header that may appear only once. */
export function openMail(mail: FetchMessageObject, trust: Trust): Opened | null {
  const senders = mail.envelope?.from ?? [];
  const from = (senders[0]?.address ?? '').toLowerCase();
  if (senders.length !== 1 || !/^[^\s@<>"]{1,64}@[^\s@<>"]{1,255}$/.test(from)) return null;
  const headers = readHeaders(mail.headers?.toString('utf8') ?? '');
  if (valuesOf(headers, 'from').length !== 1 || onceAtMost.some((name) => valuesOf(headers, name).length > 1)) return null;
  const name = legible(senders[0]?.name, mail.headers, 'from').replaceAll(/\p{C}/gu, '').slice(0, 100);
  return {
    from,
    name: name === '' ? from : name,
    isProven: proves(headers, from, trust),
    isAutomatic: from === trust.address.toLowerCase() || isAutomatic(headers, from),
    ...placeOf(mail, headers, from),
  };
}

/** Some programs write Windows-1252 into headers. The library reads that as broken UTF-8, so the header is decoded again for people. */
function legible(parsed: string | undefined, raw: Buffer | undefined, name: 'from' | 'subject'): string {
  if (parsed?.includes('\uFFFD') !== true || raw === undefined || isUtf8(raw)) return parsed ?? '';
  const [value = parsed] = valuesOf(readHeaders(new TextDecoder('windows-1252').decode(raw)), name);
  return name === 'subject'
    ? value
    : value
        .replace(/<[^<>]*>\s*$/, '')
        .replaceAll('"', '')
        .trim();
}

function proves(headers: readonly Header[], from: string, trust: Trust): boolean {
  return provenBySecret(headers, trust) || (trust.authserv !== undefined && isProven(headers, from, trust.authserv));
}

/** The position of a mail in the mailbox and in its thread. */
function placeOf(mail: FetchMessageObject, headers: readonly Header[], from: string) {
  const { uid, envelope, size = 0, internalDate = 0, bodyStructure: structure } = mail;
  const subject = legible(envelope?.subject, mail.headers, 'subject').replaceAll(/\s+/g, ' ').slice(0, 300);
  const [ownId] = messageIds(valuesOf(headers, 'message-id'));
  const messageId = ownId ?? `<${hashOf(`${from} ${subject} ${valuesOf(headers, 'date').join()} ${size}`)}@no-id.invalid>`;
  const before = messageIds([...valuesOf(headers, 'references'), ...valuesOf(headers, 'in-reply-to')]);
  const references = [...new Set([...before, messageId])].slice(-REFERENCES_MAX);
  return { uid: String(uid), subject, messageId, references, sizeBytes: size, atMs: new Date(internalDate).getTime(), structure };
}

const recipientHeaders = ['to', 'cc', 'delivered-to', 'x-original-to', 'envelope-to'];

/** True if `name+WORD@domain` is among the recipients. */
function provenBySecret(headers: readonly Header[], { address, secretWord }: Trust): boolean {
  if (secretWord === null) return false;
  const [local = '', domain = ''] = address.toLowerCase().split('@');
  const wanted = createHash('sha256').update(secretWord.toLowerCase()).digest();
  return recipientHeaders
    .flatMap((name) => valuesOf(headers, name))
    .flatMap((value) => value.toLowerCase().match(/[^\s@<>",;:]+@[^\s@<>",;:]+/g) ?? [])
    .some((recipient) => {
      if (!recipient.startsWith(`${local}+`) || !recipient.endsWith(`@${domain}`)) return false;
      const word = recipient.slice(local.length + 1, -domain.length - 1);
      return timingSafeEqual(createHash('sha256').update(word).digest(), wanted);
    });
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 40);

/** The key of the note that stores the thread of a sent mail. */
export const sentNote = (messageId: string): string => `sent:${hashOf(messageId)}`;

/**
 * Returns the thread of the sent mail that this one answers. Otherwise a thread is identified by its first mail, which not all programs
 * name.
 */
export function threadOf(
  { references, messageId }: Pick<Opened, 'references' | 'messageId'>,
  note: (key: string) => string | null,
): string {
  const known = references.map((id) => note(sentNote(id))).findLast((thread) => thread !== null);
  return known ?? hashOf(references[0] ?? messageId);
}

interface Found {
  /** The parts of the text; a picture may lie between two of them. */
  readonly texts: readonly MessageStructureObject[];
  readonly htmls: readonly MessageStructureObject[];
  readonly files: readonly MessageStructureObject[];
}

const isSignature = /^application\/(?:pgp|pkcs7|x-pkcs7)-signature$/;

export function partsOf(structure: MessageStructureObject | undefined): Found {
  const leaves: MessageStructureObject[] = [];
  const walk = (node: MessageStructureObject): void => {
    if (leaves.length >= PARTS_MAX) return;
    // An attached mail counts as one file. Its parts do not belong to this mail.
    if (node.childNodes === undefined || node.type === 'message/rfc822') leaves.push(node);
    else for (const child of node.childNodes) walk(child);
  };
  if (structure !== undefined) walk(structure);
  const isText = (node: MessageStructureObject): boolean => node.disposition !== 'attachment' && /^text\/(?:plain|html)$/.test(node.type);
  const first = leaves.find(isText);
  const own = leaves.filter((node) => isText(node) && (node === first || givenName(node) === undefined));
  return {
    texts: own.filter(({ type }) => type === 'text/plain'),
    htmls: own.filter(({ type }) => type === 'text/html'),
    files: leaves.filter((node) => !own.includes(node) && !isSignature.test(node.type)),
  };
}

export interface Reading {
  readonly threadId: string;
  readonly limits: { readonly fileBytesMax: number; readonly filesMax: number };
  readonly signal: AbortSignal;
}

/** Reads the text and the files of a mail. */
export async function readMail(client: ImapFlow, mail: Opened, { threadId, limits, signal }: Reading): Promise<ChannelInbound> {
  const { texts, htmls, files } = partsOf(mail.structure);
  const written = await downloadTexts(client, mail, texts);
  // Some programs leave the plain version empty.
  const body = written.trim() === '' ? await shownText(await downloadTexts(client, mail, htmls), signal) : written;
  const { own, quoted } = splitQuoted(body);
  const attachments: Attachment[] = [];
  for (const part of files.slice(0, limits.filesMax + 1)) {
    // Reads up to one byte over the limit. That is enough for the size check that all channels share.
    const bytes = await download(client, mail, part, limits.fileBytesMax + 1);
    attachments.push({ name: nameOf(part), mediaType: part.type, base64: bytes.toString('base64') });
  }
  const isForwarded = /^\s*(?:fwd?|wg|tr)\s*:/i.test(mail.subject);
  return {
    channel: 'email',
    chatId: mail.from,
    threadId,
    kind: 'private',
    senderId: mail.from,
    senderName: mail.name,
    dedupeKey: `mail:${hashOf(`${mail.from} ${mail.messageId}`)}`,
    ...(mail.messageId.length > 190 ? {} : { messageId: mail.messageId }),
    text: textWithSubject(mail, own),
    attachments,
    ...(quoted === '' ? {} : { replyTo: { text: quoted, fromAgent: false } }),
    ...(isForwarded ? { forwardedFrom: 'a forwarded mail' } : {}),
    mentioned: false,
    atMs: mail.atMs,
  };
}

/** A mail that was made to take long is still a mail, with its subject and its files. */
async function shownText(html: string, signal: AbortSignal): Promise<string> {
  if (html === '') return '';
  try {
    return await textOfHtml(html, signal);
  } catch (cause) {
    if (signal.aborted) throw cause;
    return '(The text of this mail could not be read.)';
  }
}

/** The subject of a thread's first mail is part of the message. The subject of a reply repeats an older one. */
function textWithSubject({ subject, references }: Opened, own: string): string {
  if (references.length > 1 || subject === '' || looksLikeCode(own.trim()) || own.startsWith('/')) return own;
  return own === '' ? subject : `${subject}\n\n${own}`;
}

function givenName({ dispositionParameters: disposed, parameters }: MessageStructureObject): string | undefined {
  return disposed?.['filename'] ?? parameters?.['name'];
}

function nameOf(part: MessageStructureObject): string {
  const name = givenName(part) ?? (part.type === 'message/rfc822' ? 'mail.eml' : 'file');
  const plain = name.replaceAll(/[\p{C}/\\]/gu, '_').slice(0, 100);
  return plain === '' ? 'file' : plain;
}

async function downloadTexts(client: ImapFlow, mail: Opened, parts: readonly MessageStructureObject[]): Promise<string> {
  const texts: string[] = [];
  let leftBytes = TEXT_BYTES_MAX;
  for (const part of parts) {
    const bytes = await download(client, mail, part, leftBytes);
    leftBytes = Math.max(0, leftBytes - bytes.length);
    texts.push(bytes.toString('utf8'));
    if (leftBytes === 0) return `${texts.join('\n').slice(0, TEXT_BYTES_MAX)}\n\n(This mail is longer. The rest is not here.)`;
  }
  return texts.join('\n');
}

/** Counts the bytes, since the size that the server states is not trusted. */
async function download(client: ImapFlow, mail: Opened, { part = '1' }: MessageStructureObject, maxBytes: number): Promise<Buffer> {
  const found = await client.download(mail.uid, part, { uid: true, maxBytes });
  if (!('content' in found) || found.content === undefined) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of found.content) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    chunks.push(bytes);
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks);
}
