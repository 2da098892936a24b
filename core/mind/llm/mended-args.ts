// Mends the arguments of a call that are not JSON although their meaning is certain: a code fence around them, a comma before a closing
// bracket, line breaks inside a text. Never adds what is missing, so truncated arguments stay invalid. Linear in the length of the text.

import { isPlainObject, parseJson } from '../../base/json.ts';

const FENCE = '```';

/** A fence or a mark at the beginning, a comma before a bracket, or a control character: nothing else is mended. */
// oxlint-disable-next-line no-control-regex -- they are what is mended
const mendable = /^\s*(?:```|\uFEFF)|,\s*[}\]]|[\0-\x1F]/;

/** Returns the text unchanged if it is JSON, or if it is not the text of an object even after mending. */
export function mendedArgs(args: string): string {
  // Parses nothing in the usual case: the arguments are parsed soon enough.
  const mended = mendable.test(args) ? strict(unfenced(args)) : args;
  if (mended === args) return args;
  const parsed = parseJson(mended);
  return parsed.ok && isPlainObject(parsed.value) ? mended : args;
}

function unfenced(args: string): string {
  const text = args.replace(/^\uFEFF/, '').trim();
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE)) return text;
  return text.slice(FENCE.length, -FENCE.length).replace(/^[a-z]*/i, '');
}

function strict(text: string): string {
  const pieces: string[] = [];
  let isInText = false;
  /** The place of a comma with nothing but white space after it. */
  let commaAt: number | null = null;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') isInText = !isInText;
    if (isInText) {
      if (char === '\\') at += 1;
      pieces.push(char === '\\' ? char + text.charAt(at) : char < ' ' ? JSON.stringify(char).slice(1, -1) : char);
      commaAt = null;
      continue;
    }
    if ((char === '}' || char === ']') && commaAt !== null) pieces[commaAt] = '';
    if (char === ',') commaAt = pieces.length;
    else if (char.trim() !== '') commaAt = null;
    pieces.push(char);
  }
  return pieces.join('');
}
