// Encloses text that is not an instruction in marks it cannot close: not even with capitals, spaces, invisible characters or look-alike
// characters. The text cannot imitate a note or material of the program either.

/** Every mark that the program puts around text. */
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

/** Marks that a model knows from its instructions. Other text must not seem to contain one. */
const knownToModels: readonly Mark[] = ['runtime-note', 'attached-file', 'conversation-summary', 'material'];

const patterns = Object.fromEntries(marks.map((mark) => [mark, tagOf(mark)])) as Readonly<Record<Mark, RegExp>>;

export function fenced(mark: Mark, text: string, attributes: Readonly<Record<string, string>> = {}): string {
  // The content of a note already has its own marks.
  const own = new Set<Mark>(mark === 'runtime-note' ? [mark] : [mark, ...knownToModels]);
  const given = Object.entries(attributes).map(
    ([name, value]) => ` ${name}=${JSON.stringify(withoutMarks(value, own)).replace(/[<>]/g, escaped)}`,
  );
  return `<${mark}${given.join('')}>\n${withoutMarks(text, own)}\n</${mark}>`;
}

/** Returns the text with a backslash in everything that reads as one of these marks. Defaults to the marks a model knows. */
export function withoutMarks(text: string, which: Iterable<Mark> = knownToModels): string {
  return [...which].reduce((safe, mark) => safe.replace(patterns[mark], '$&\\'), text);
}

function tagOf(mark: Mark): RegExp {
  const letters = Array.from(mark, (sign) => (/[a-z]/.test(sign) ? sign : '[\\p{Pd}_\\s]')).join('\\p{Cf}*');
  return new RegExp(`[<＜﹤‹〈⟨](?=[\\s\\p{Cf}/\\\\]*${letters})`, 'giu');
}

function escaped(sign: string): string {
  return sign === '<' ? '\\u003c' : '\\u003e';
}
