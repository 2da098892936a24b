// Cuts text to a number of bytes and keeps its head and tail. Pure: the caller stores the whole text.

import { counted } from '../../base/counted.ts';

export interface CutText {
  readonly head: string;
  readonly tail: string;
  readonly droppedBytes: number;
}

const HEAD_SHARE = 0.6;
const LINE_SLACK_BYTES = 400;

/** Returns whether the text takes more than `bytesMax` bytes as UTF-8. Avoids counting bytes if the length already decides it. */
export function isLongerThan(text: string, bytesMax: number): boolean {
  if (text.length * 3 <= bytesMax) return false;
  return text.length > bytesMax || Buffer.byteLength(text) > bytesMax;
}

/**
 * Returns head and tail that together take at most `bytesMax` bytes, cut between characters and, if one is near, at a line end. Lone
 * surrogates count as the three bytes of the replacement character they become.
 */
export function cutMiddle(text: string, bytesMax: number): CutText {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return { head: text, tail: '', droppedBytes: 0 };
  const headEnd = backToBoundary(bytes, Math.floor(bytesMax * HEAD_SHARE));
  const tailStart = forwardToBoundary(bytes, bytes.length - (bytesMax - Math.floor(bytesMax * HEAD_SHARE)));
  return {
    head: bytes.toString('utf8', 0, headEnd),
    tail: bytes.toString('utf8', tailStart),
    droppedBytes: tailStart - headEnd,
  };
}

/** The longest start of the text that takes at most `bytesMax` bytes. */
export function cutEnd(text: string, bytesMax: number): string {
  if (!isLongerThan(text, bytesMax)) return text;
  const bytes = Buffer.from(text);
  return bytes.toString('utf8', 0, characterStart(bytes, Math.min(bytesMax, bytes.length)));
}

/** For example "182 kB", "3.4 MB", "12 bytes". */
export function formatBytes(sizeBytes: number): string {
  if (sizeBytes < 1000) return counted(sizeBytes, 'byte');
  if (sizeBytes < 999_500) return `${Math.round(sizeBytes / 100) / 10} kB`.replace(/^(\d{3,})\.\d/, '$1');
  return `${Math.round(sizeBytes / 100_000) / 10} MB`;
}

function backToBoundary(bytes: Buffer, index: number): number {
  const newline = bytes.lastIndexOf(10, index - 1);
  if (newline >= 0 && index - newline <= LINE_SLACK_BYTES) return newline + 1;
  return characterStart(bytes, index);
}

function forwardToBoundary(bytes: Buffer, index: number): number {
  const newline = bytes.indexOf(10, index);
  if (newline >= 0 && newline - index < LINE_SLACK_BYTES && newline + 1 < bytes.length) return newline + 1;
  let start = index;
  while (start < bytes.length && isContinuation(bytes[start])) start += 1;
  return start;
}

function characterStart(bytes: Buffer, index: number): number {
  let start = index;
  while (start > 0 && isContinuation(bytes[start])) start -= 1;
  return start;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
