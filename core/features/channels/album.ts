// Which messages belong together and become one: the parts of an album, and the parts of a text that an app split. Pure.

import { assert } from '../../base/assert.ts';
import type { ChannelInbound, SplitTexts } from '../../contracts/channels.ts';
import type { HeldMessage } from './rows.ts';

/** Marks the id of a split text; ids of albums come from the service. */
const TEXT = 'text:';
/** The longest time between two parts of a split text. Some services tell times in whole seconds. */
const PART_GAP_MS = 2_000;

type Album = Pick<ChannelInbound, 'chatId' | 'senderId' | 'albumId'>;

/** The waiting messages of this album, in order of arrival. */
export function albumOf({ chatId, senderId, albumId }: Album, held: readonly HeldMessage[]): HeldMessage[] {
  return held.filter(({ message: one }) => one.albumId === albumId && one.chatId === chatId && one.senderId === senderId);
}

/** A text long enough to be a part waits for the next one. The text right behind such a part belongs to it. */
export function textAlbumOf(
  message: ChannelInbound,
  split: SplitTexts | undefined,
  held: () => readonly HeldMessage[],
): { readonly albumId?: string } {
  const { chatId, senderId, threadId, text, files = [], attachments, dedupeKey, atMs } = message;
  if (split === undefined || text === '' || files.length + attachments.length > 0 || message.forwardedFrom !== undefined) return {};
  const before = held().findLast(({ message: one }) => one.chatId === chatId && one.senderId === senderId)?.message;
  const follows =
    before?.albumId?.startsWith(TEXT) === true &&
    before.text.length >= split.least &&
    before.threadId === threadId &&
    Math.abs(atMs - before.atMs) <= PART_GAP_MS;
  if (follows && before.albumId !== undefined) return { albumId: before.albumId };
  return text.length < split.least ? {} : { albumId: `${TEXT}${dedupeKey}` };
}

/** Merges an album into one message with the key of its first. If any part was forwarded, the whole album is untrusted. */
export function asOne(together: readonly HeldMessage[], split: SplitTexts | undefined): HeldMessage {
  const [first, ...rest] = together;
  assert(first !== undefined, 'there is at least the message itself');
  if (rest.length === 0) return first;
  const all = together.map(({ message }) => message);
  const replyTo = all.find((one) => one.replyTo !== undefined)?.replyTo;
  const forwardedFrom = all.find((one) => one.forwardedFrom !== undefined)?.forwardedFrom;
  const message = {
    ...first.message,
    text: first.message.albumId?.startsWith(TEXT) === true ? joinParts(all, split) : joinCaptions(all),
    files: all.flatMap(({ files }) => files),
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(forwardedFrom === undefined ? {} : { forwardedFrom }),
    mentioned: all.some(({ mentioned }) => mentioned),
  };
  return { key: first.key, message };
}

type Texts = readonly { readonly text: string }[];

const joinCaptions = (all: Texts): string => all.flatMap(({ text }) => (text.trim() === '' ? [] : [text])).join('\n\n');

/** White space at a cut is lost on the way, except where a word was cut. */
function joinParts(all: Texts, split: SplitTexts | undefined): string {
  const full = split?.full ?? Number.MAX_SAFE_INTEGER;
  return all.map(({ text }, at) => (at === all.length - 1 || text.length >= full ? text : `${text}\n`)).join('');
}
