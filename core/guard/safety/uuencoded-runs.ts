// Decodes files in uuencode, whose lines begin with their length, so that a secret that a line break divides is found. Pure.

import { gap, WrittenView, type TextView } from './text-view.ts';

const header = /^begin [0-7]{3,4} \S/m;
const dataLine = /^[!-M][ -`]{2,80}\r?$/;

export function uuencodedRuns(text: string): TextView[] {
  const start = header.exec(text)?.index;
  if (start === undefined) return [];
  const view = new WrittenView();
  let at = start;
  for (const line of text.slice(start).split('\n')) {
    if (dataLine.test(line)) addLine(view, line, at);
    else view.add(gap, at, at);
    at += line.length + 1;
  }
  return [view];
}

/** Returns the start of a file that more text could extend, or the text's length if there is none. */
export function openUuencoded(text: string): number {
  const start = text.lastIndexOf('begin ');
  const rest = start < 0 ? '' : text.slice(start);
  return header.test(rest) && !rest.includes('\nend') ? start : text.length;
}

/** Four characters hold three bytes, the highest bits first. */
function addLine(view: WrittenView, line: string, at: number): void {
  const length = line.charCodeAt(0) - 0x20;
  const bits = (index: number): number => ((line.charCodeAt(index) || 0x20) - 0x20) & 0x3f;
  for (let byte = 0; byte < length; byte++) {
    const first = 1 + Math.floor((byte * 4) / 3);
    const shift = (byte % 3) * 2;
    const code = ((bits(first) << (2 + shift)) | (bits(first + 1) >> (4 - shift))) & 0xff;
    view.add(String.fromCharCode(code), at + first, at + Math.min(line.length, first + 2));
  }
}
