// Shortens a long text by rules: keeps its start, its end, and lines in between that report an error or an outcome, and counts repeated
// lines. For logs, listings and files that go into a summary. Pure.

import { counted } from './counted.ts';

const notable =
  /\b(error|errors|fail(ed|ure|s)?|exception|panic|fatal|warn(ing)?|denied|refused|not found|missing|timeout|total|summary|result|passed)\b/i;

const HEAD_SHARE = 0.3;
const NOTABLE_SHARE = 0.35;
/** The maximum number of lines examined: the first half of them at the start of the text, the other at its end. */
const LINES_MAX = 20_000;
/** The maximum length of the note about omitted text. */
const LEFT_OUT_CHARS = 36;

export function distillText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const all = text.split('\n');
  const unseen = Math.max(0, all.length - LINES_MAX);
  const start = countRepeats(unseen === 0 ? all : all.slice(0, LINES_MAX / 2));
  const end = unseen === 0 ? [] : countRepeats(all.slice(-LINES_MAX / 2));
  const lines = [...start, ...end];
  const whole = (unseen === 0 ? lines : [...start, leftOut(unseen), ...end]).join('\n');
  if (whole.length <= charsMax) return whole;
  if (lines.length < 4) return cutInside(whole, charsMax);
  const head = takeWhile(lines, charsMax * HEAD_SHARE);
  const rest = lines.slice(head.length);
  const found = takeWhile(
    rest.filter((line) => notable.test(line)),
    charsMax * NOTABLE_SHARE,
  );
  const room = charsMax - size(head) - size(found) - 60;
  const tail = takeWhile(rest.toReversed(), Math.max(0, room)).toReversed();
  const inTail = new Set(tail);
  const middle = found.filter((line) => !inTail.has(line));
  const left = unseen + lines.length - head.length - middle.length - tail.length;
  return cutInside([...head, leftOut(left), ...middle, ...tail].join('\n'), charsMax);
}

function leftOut(lines: number): string {
  return `[${counted(lines, 'line')} left out]`;
}

/** Replaces consecutive lines that differ only in numbers with the first line and a count. */
function countRepeats(lines: readonly string[]): string[] {
  const out: string[] = [];
  let form: string | null = null;
  let times = 0;
  const close = (): void => {
    if (times > 1) out.push(`[and ${times - 1} more lines like this]`);
  };
  for (const line of lines) {
    const shape = line.replace(/\d+/g, '0').trim();
    if (shape !== '' && shape === form) {
      times += 1;
      continue;
    }
    close();
    out.push(line);
    form = shape;
    times = 1;
  }
  close();
  return out;
}

function takeWhile(lines: readonly string[], charsMax: number): string[] {
  const taken: string[] = [];
  let chars = 0;
  for (const line of lines) {
    if (chars + line.length + 1 > charsMax) break;
    taken.push(line);
    chars += line.length + 1;
  }
  return taken;
}

function size(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

function cutInside(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = Math.max(0, Math.floor((charsMax - LEFT_OUT_CHARS) / 2));
  if (half === 0) return text.slice(0, charsMax);
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters left out]\n${text.slice(-half)}`;
}
