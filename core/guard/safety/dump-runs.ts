// Decodes dumps of bytes (`xxd`, `hexdump`, `od`), in which an address, columns of numbers and a column of text divide what a file holds, so
// that a secret in it is found. Pure.

import { gap, WrittenView, type TextView } from './text-view.ts';

/** The bytes in a row of every program's default form. What follows is the column of text. */
const ROW_BYTES = 16;
/** A column of `od -c`. A blank has an empty one. */
const CELL_WIDTH = 4;
const ADDRESS = String.raw`[0-9A-Fa-f]{7,16}:?(?=[ \t]|$)`;
/** A row with an address, with at least four bytes apart, or with at least eight as decimal numbers. */
const rowStart = new RegExp(
  String.raw`^[ \t]*(?:${ADDRESS}|[0-9A-Fa-f]{2}(?:[ \t]{1,2}[0-9A-Fa-f]{2}){3}|\d{1,3}(?:[ \t]{1,3}\d{1,3}){7})`,
);
const anyRow = new RegExp(rowStart.source, 'm');
const address = new RegExp(String.raw`[ \t]*(?:${ADDRESS})?`, 'y');
const hexGroup = /[ \t]{0,3}((?:[0-9A-Fa-f]{2}){1,8})(?![^ \t\r])/y;
/** `xxd -b`. */
const bits = /[ \t]{1,3}([01]{8})(?![^ \t\r])/y;
const textColumn = /[ \t]{2,}\|?(.*?)\|?[ \t]*\r?$/y;

interface Views {
  readonly bytes: WrittenView;
  /** With the bytes of each group in the opposite order, as small machines keep numbers. */
  readonly swapped: WrittenView;
  /** Of rows that can be read as decimal numbers, as `od -tu1` writes them. */
  readonly decimals: WrittenView;
  readonly texts: WrittenView;
}

export function dumpRuns(text: string): TextView[] {
  if (!anyRow.test(text)) return [];
  const views: Views = { bytes: new WrittenView(), swapped: new WrittenView(), decimals: new WrittenView(), texts: new WrittenView() };
  let isInRun = false;
  let at = 0;
  for (const line of text.split('\n')) {
    const isRow: boolean = isInRun ? isRowLike(line) : rowStart.test(line);
    if (isRow && !isInRun) for (const view of Object.values(views) as WrittenView[]) view.add(gap, at, at);
    if (isRow) addRow(views, line, at);
    isInRun = isRow;
    at += line.length + 1;
  }
  return Object.values(views) as WrittenView[];
}

/** Returns the start of a dump that more text could extend, or the text's length if there is none. */
export function openDump(text: string): number {
  let start = text.length;
  for (let end = text.length; end >= 0;) {
    const from = text.lastIndexOf('\n', end - 1) + 1;
    const line = text.slice(from, end);
    if (end === text.length ? !mayBecomeRow(line) : !isRowLike(line)) break;
    if (rowStart.test(line)) start = from;
    end = from - 1;
  }
  return start;
}

/** In a dump, the last row may be short. */
function isRowLike(line: string): boolean {
  return /^[ \t]*[0-9A-Fa-f]{2,16}:?(?:[ \t\r]|$)/.test(line);
}

function mayBecomeRow(line: string): boolean {
  return line === '' || /^[ \t]*(?:[0-9A-Fa-f]{1,16}:?)?$/.test(line) || isRowLike(line);
}

function addRow(views: Views, line: string, at: number): void {
  address.lastIndex = 0;
  address.test(line);
  const from = address.lastIndex;
  const cells = line
    .slice(from)
    .split(/[ \t\r]+/)
    .filter((cell) => cell !== '');
  const are = (form: RegExp): boolean => from > 0 && cells.length > 0 && cells.every((cell) => form.test(cell));
  const isDecimal = cells.every((cell) => /^\d{1,3}$/.test(cell) && Number(cell) <= 0xff);
  if (isDecimal) addDecimals(views, line, at, from);
  // A byte has two digits in hex.
  if (isDecimal && from === 0 && cells.some(({ length }) => length !== 2)) return;
  bits.lastIndex = from;
  if (bits.test(line)) addBits(views, line, at, from);
  else if (are(/^[0-7]{6}$/)) addOctalWords(views, line, at, from);
  else if (are(/^(?:[^\\]|\\.|[0-7]{3})$/)) addCells(views, line, at, from);
  else addHex(views, line, at, from);
}

/** `od -c` and `od -b`: a character, an escape or an octal number in each column. */
function addCells({ bytes }: Views, line: string, at: number, from: number): void {
  for (let begin = from; begin < line.length; begin += CELL_WIDTH) {
    const cell = line.slice(begin, begin + CELL_WIDTH).trim();
    const char = /^[0-7]{3}$/.test(cell) ? String.fromCharCode(Number.parseInt(cell, 8) & 0xff) : cell.slice(-1);
    bytes.add(char === '' ? ' ' : char, at + begin, at + Math.min(line.length, begin + CELL_WIDTH));
  }
}

/** `od`: pairs of bytes as octal numbers. */
function addOctalWords({ swapped }: Views, line: string, at: number, from: number): void {
  for (const { 0: word, index } of line.slice(from).matchAll(/[0-7]{6}/g)) {
    const code = Number.parseInt(word, 8);
    swapped.add(String.fromCharCode(code & 0xff), at + from + index, at + from + index + 6);
    swapped.add(String.fromCharCode((code >> 8) & 0xff), at + from + index, at + from + index + 6);
  }
}

function addDecimals({ decimals }: Views, line: string, at: number, from: number): void {
  for (const { 0: number, index } of line.slice(from).matchAll(/\d+/g))
    decimals.add(String.fromCharCode(Number(number)), at + from + index, at + from + index + number.length);
}

function addBits({ bytes, texts }: Views, line: string, at: number, from: number): void {
  let end = from;
  bits.lastIndex = from;
  for (let found = bits.exec(line); found !== null; found = bits.exec(line)) {
    end = bits.lastIndex;
    bytes.add(String.fromCharCode(Number.parseInt(found[1] ?? '', 2)), at + end - 8, at + end);
  }
  addText(texts, line, at, end);
}

function addHex({ bytes, swapped, texts }: Views, line: string, at: number, from: number): void {
  let end = from;
  let count = 0;
  hexGroup.lastIndex = from;
  for (let found = hexGroup.exec(line); found !== null && count < ROW_BYTES; found = hexGroup.exec(line)) {
    end = hexGroup.lastIndex;
    const digits = found[1] ?? '';
    const begin = end - digits.length;
    const pairs = digits.match(/../g) ?? [];
    count += pairs.length;
    const chars = pairs.map((pair) => String.fromCharCode(Number.parseInt(pair, 16)));
    for (const [index, char] of chars.entries()) bytes.add(char, at + begin + index * 2, at + begin + index * 2 + 2);
    for (const char of chars.toReversed()) swapped.add(char, at + begin, at + end);
  }
  addText(texts, line, at, end);
}

function addText(texts: WrittenView, line: string, at: number, end: number): void {
  textColumn.lastIndex = end;
  const column = textColumn.exec(line);
  if (column === null) return;
  const shown = column[1] ?? '';
  const begin = end + column[0].indexOf(shown);
  for (const [index, char] of [...shown].entries()) texts.add(char, at + begin + index, at + begin + index + 1);
}
