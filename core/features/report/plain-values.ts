// Reduces a value to the parts that cannot contain a person's text: its structure, numbers, booleans, and the program's own keywords. Pure.

const DEPTH_MAX = 8;
const ENTRIES_MAX = 100;
const FRAMES_MAX = 20;

/** Matches modes and kinds such as `workspace-free` and `openai-compatible`. Longer text, or other characters, may be a name or a key. */
const isWord = (text: string): boolean => /^[a-z][a-z-]{0,23}$/.test(text);

export function plainValue(value: unknown, depth = 0): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return isWord(value) ? value : `(${value.length} characters)`;
  if (typeof value !== 'object' || depth > DEPTH_MAX) return '(left out)';
  if (Array.isArray(value)) return value.slice(0, ENTRIES_MAX).map((one) => plainValue(one, depth + 1));
  const entries = Object.entries(value).slice(0, ENTRIES_MAX);
  const nameOf = (key: string, at: number): string => (/^[a-z][A-Za-z]{0,30}(?:\d[A-Za-z]+)?$/.test(key) ? key : `(name ${at + 1})`);
  return Object.fromEntries(entries.map(([key, one], at) => [nameOf(key, at), plainValue(one, depth + 1)]));
}

/** The stack frames of an error, without its message. */
export function framesOf(text: string): readonly string[] {
  const frames = text.split('\n').flatMap((line) => /^\s+at .*?([\w.-]+\.[cm]?[jt]s:\d+:\d+)\)?$/.exec(line)?.[1] ?? []);
  return frames.slice(0, FRAMES_MAX);
}

/** Every key and text in a value. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return typeof value === 'object' && value !== null ? Object.entries(value).flatMap(([key, one]) => [key, ...textsOf(one)]) : [];
}

const NAME_CHARS_MIN = 3;

/** The texts in the settings that are no words of the program, without the names of models. The longest come first. */
export function chosenNames(settings: unknown, own: ReadonlySet<string>): readonly string[] {
  const texts = textsOf(settings).flatMap((text) => [text, text.replace(/^(?:env|keychain|file):/, ''), URL.parse(text)?.hostname ?? '']);
  const names = new Set(texts.filter((text) => text.length >= NAME_CHARS_MIN && !own.has(text)));
  return [...names].filter((name) => !/^[^/]+\//.test(name) || !names.has(name.split('/')[0] ?? '')).sort((a, b) => b.length - a.length);
}
