// The mailbox: connects over IMAP and reads each mail once, in order of arrival. The position is a note that survives restarts. Mail from
// before the mailbox was set up is never read. Changes nothing in the mailbox except the seen flag.

import type { ImapFlow } from 'imapflow';
import type { ChatDesk } from '../../contracts/channels.ts';
import { AppError } from '../../contracts/errors.ts';
import type { EmailConfig } from '../../contracts/features/email.ts';
import { withSystemAuthorities } from '../../guard/egress/egress.ts';
import { unreachableWords } from './unreachable.ts';
import { openingQuery, openMail, readMail, threadOf, type Opened, type Trust } from './read-mail.ts';

export interface MailboxDeps {
  readonly settings: EmailConfig;
  readonly password: string | undefined;
  readonly trust: Trust;
  readonly limits: { readonly fileBytesMax: number; readonly filesMax: number; readonly messageBytesMax: number };
  readonly desk: ChatDesk;
  readonly nowMs: () => number;
}

/**
 * Where reading continues: by message number within the same mailbox (`validity`), or by the date of arrival if the mailbox was recreated.
 */
interface Place {
  readonly validity: string;
  readonly next: number;
  readonly atMs: number;
}

const CONNECT_MS = 30_000;
/** Some servers drop a client that idles longer. The regular check also finds mail whose notification was lost. */
const WAIT_MS_MAX = 240_000;
const BATCH = 50;
const OVERHEAD_BYTES = 200_000;
const DAY_MS = 86_400_000;

type Account = Pick<MailboxDeps, 'settings' | 'password'>;

export async function connectMailbox(account: Account, signal: AbortSignal): Promise<ImapFlow> {
  try {
    return await withSystemAuthorities(() => openMailbox(account, signal));
  } catch (cause) {
    throw readFailure(cause, account.settings);
  }
}

/** The IMAP library is loaded on first use. */
async function openMailbox({ settings, password }: Account, signal: AbortSignal): Promise<ImapFlow> {
  const { ImapFlow: Client } = await import('imapflow');
  const { host, port, security, user = settings.address } = settings.imap;
  const client = new Client({
    host,
    port,
    secure: security === 'tls',
    doSTARTTLS: security === 'starttls',
    auth: { user, ...(password === undefined ? {} : { pass: password }) },
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    maxIdleTime: WAIT_MS_MAX,
  });
  // A lost connection ends the wait below. The event only needs a listener.
  client.on('error', () => undefined);
  const stop = (): void => client.close();
  signal.addEventListener('abort', stop, { once: true });
  client.once('close', () => signal.removeEventListener('abort', stop));
  try {
    await client.connect();
    await client.mailboxOpen(settings.folder);
  } catch (cause) {
    client.close();
    throw cause;
  }
  return client;
}

function readFailure(cause: unknown, { imap, folder }: EmailConfig): AppError {
  const { authenticationFailed, responseText, mailboxMissing } = cause as {
    authenticationFailed?: boolean;
    responseText?: string;
    mailboxMissing?: boolean;
  };
  if (authenticationFailed === true) {
    return new AppError('unauthorized', `The mail server ${imap.host} does not take the user name and password.`, {
      data: { field: 'imap.password' },
      hint: 'Enter the user name and the password again; many providers want an app password, which their website makes.',
      cause,
    });
  }
  if (mailboxMissing === true || responseText !== undefined) {
    return new AppError('fetch_failed', `The mail server ${imap.host} does not open the folder ${folder}.`, {
      data: { field: 'folder' },
      hint: 'Name a folder of this mailbox, such as INBOX.',
      cause,
    });
  }
  return new AppError('fetch_failed', unreachableWords(cause, imap), {
    hint: 'TrayClaw keeps trying; mail waits there.',
    data: { field: 'imap.host' },
    cause,
  });
}

/** Runs until the connection is lost or the signal aborts. */
export async function readMailbox(deps: MailboxDeps, client: ImapFlow, signal: AbortSignal): Promise<void> {
  let hasNews = true;
  let wake = (): void => undefined;
  const rouse = (): void => {
    hasNews = true;
    wake();
  };
  client.on('exists', rouse);
  client.once('close', rouse);
  while (!signal.aborted && client.usable) {
    hasNews = false;
    await takeNew(deps, client, signal);
    if (hasNews || signal.aborted || !client.usable) continue;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, WAIT_MS_MAX);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      // The next command ends idling. A failure closes the connection, and the close event wakes the loop.
      client.idle().catch(() => undefined);
    });
    wake = () => undefined;
  }
  if (!signal.aborted) throw new AppError('fetch_failed', `The connection to ${deps.settings.imap.host} was lost.`, { hint: '' });
}

async function takeNew(deps: MailboxDeps, client: ImapFlow, signal: AbortSignal): Promise<void> {
  const { mailbox } = client;
  if (mailbox === false) return;
  const place = placeOf(deps, String(mailbox.uidValidity), mailbox.uidNext);
  const isMadeAgain = place.next === 0;
  let next = Math.max(place.next, 1);
  for (;;) {
    const found = await client.search(isMadeAgain ? { since: new Date(place.atMs - DAY_MS) } : { uid: `${next}:*` }, { uid: true });
    // `N:*` always includes the last mail, even one below N.
    const uids = (Array.isArray(found) ? found : []).filter((uid) => uid >= next).toSorted((a, b) => a - b);
    for (const uid of uids.slice(0, BATCH)) {
      if (signal.aborted) return;
      await takeOne(deps, client, uid, signal);
      next = uid + 1;
    }
    // The position moves after the whole batch. A mail that is read twice is recognized by its id.
    if (uids.length > 0) keep(deps.desk, { validity: place.validity, next, atMs: deps.nowMs() });
    if (uids.length <= BATCH) return;
  }
}

/** Starts at the next new mail the first time. `next` is 0 if the mailbox was recreated and the numbers are no longer valid. */
function placeOf({ desk, nowMs }: MailboxDeps, validity: string, uidNext: number): Place {
  const kept = desk.note('mailbox');
  const place = kept === null ? null : (JSON.parse(kept) as Place);
  if (place?.validity === validity) return place;
  if (place !== null) return { validity, next: 0, atMs: place.atMs };
  const first = { validity, next: uidNext, atMs: nowMs() };
  keep(desk, first);
  return first;
}

function keep(desk: ChatDesk, place: Place): void {
  desk.setNote('mailbox', JSON.stringify(place));
}

async function takeOne({ trust, limits, desk }: MailboxDeps, client: ImapFlow, uid: number, signal: AbortSignal): Promise<void> {
  const fetched = await client.fetchOne(String(uid), openingQuery, { uid: true });
  const mail = fetched === false ? null : openMail(fetched, trust);
  // Without proof an answer would go to any address given as the sender.
  if (mail === null || mail.isAutomatic || !mail.isProven) return;
  if (!desk.knows(mail.from) && mail.sizeBytes > OVERHEAD_BYTES) return;
  const isTooBig = mail.sizeBytes > limits.messageBytesMax * 1.4 + OVERHEAD_BYTES;
  const threadId = threadOf(mail, (key) => desk.note(key));
  const message = await readMail(client, isTooBig ? { ...mail, structure: textOnly(mail) } : mail, { threadId, limits, signal });
  desk.setNote(`thread:${threadId}`, JSON.stringify({ subject: mail.subject, references: mail.references }));
  await desk.take(
    isTooBig ? { ...message, text: `${message.text}\n\n(The files of this mail were too large and are not here.)` } : message,
  );
  await client.messageFlagsAdd(String(uid), ['\\Seen'], { uid: true });
}

function textOnly({ structure }: Opened): Opened['structure'] {
  const isText = (node: NonNullable<Opened['structure']>): boolean => /^(?:text|multipart)\//.test(node.type);
  if (structure?.childNodes === undefined) return structure;
  return { ...structure, childNodes: structure.childNodes.filter(isText) };
}
