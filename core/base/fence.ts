// Text that is no instruction, inside marks it cannot close: neither plainly, nor in capitals, with spaces, invisible characters or signs that
// look alike. It cannot write a note or material of the program either.

/** Every mark the program puts around text. */
const marks = [
  'runtime-note',
  'attached-file',
  'conversation-summary',
  'material',
  'conversation',
  'earlier-summary',
  'first',
  'second',
  'summary',
  'lost',
  'tool_response',
  'tool_call',
] as const;
export type Mark = (typeof marks)[number];

/** Those a model knows from its instructions: what it reads must not seem to be one. */
const telling: readonly Mark[] = ['runtime-note', 'attached-file', 'conversation-summary', 'material'];

const patterns = Object.fromEntries(marks.map((mark) => [mark, tagOf(mark)])) as Readonly<Record<Mark, RegExp>>;

export function fenced(mark: Mark, text: string, attributes: Readonly<Record<string, string>> = {}): string {
  // A note holds what is inside marks already.
  const own = new Set<Mark>(mark === 'runtime-note' ? [mark] : [mark, ...telling]);
  const given = Object.entries(attributes).map(
    ([name, value]) => ` ${name}=${JSON.stringify(withoutMarks(value, own)).replace(/[<>]/g, escaped)}`,
  );
  return `<${mark}${given.join('')}>\n${withoutMarks(text, own)}\n</${mark}>`;
}

/** The text with a backslash in everything that reads as one of these marks, by default those a model knows. */
export function withoutMarks(text: string, which: Iterable<Mark> = telling): string {
  return [...which].reduce((safe, mark) => safe.replace(patterns[mark], '$&\\'), text);
}

function tagOf(mark: Mark): RegExp {
  const letters = Array.from(mark, (sign) => (/[a-z]/.test(sign) ? sign : '[\\p{Pd}_\\s]')).join('\\p{Cf}*');
  return new RegExp(`[<＜﹤‹〈⟨](?=[\\s\\p{Cf}/\\\\]*${letters})`, 'giu');
}

function escaped(sign: string): string {
  return sign === '<' ? '\\u003c' : '\\u003e';
}
