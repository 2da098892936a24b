// For tests only: how the Bot API server parses formatted text, with the errors it returns. Error offsets count bytes; text lengths count
// UTF-16 units. Knows nothing about chats.

export interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

export interface Parsed {
  readonly text: string;
  readonly entities: readonly Entity[];
}

/** Errors that the server answers with status 400. */
export class EntityError extends Error {}

const bytesBefore = (text: string, at: number): number => Buffer.byteLength(text.slice(0, at));
const fail = (what: string): never => {
  throw new EntityError(`can't parse entities: ${what}`);
};

const htmlTags: Readonly<Record<string, string>> = {
  a: 'text_link',
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
};
const namedEntities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

interface OpenTag {
  readonly tag: string;
  readonly at: number;
  readonly attributes: Readonly<Record<string, string>>;
}

export function parseHtml(source: string): Parsed {
  let text = '';
  const entities: Entity[] = [];
  const open: OpenTag[] = [];
  let at = 0;
  while (at < source.length) {
    const character = source[at] ?? '';
    if (character === '&') {
      const named = /^&(?:(lt|gt|amp|quot)|#(\d+)|#x([0-9a-f]+));/i.exec(source.slice(at, at + 12));
      if (named !== null) {
        const [whole, name, decimal, hex] = named;
        text +=
          name === undefined ? String.fromCodePoint(parseInt(decimal ?? hex ?? '', decimal === undefined ? 16 : 10)) : namedEntities[name];
        at += whole.length;
        continue;
      }
    }
    if (character !== '<') {
      text += character;
      at += 1;
      continue;
    }
    at = source[at + 1] === '/' ? closeTag(source, at, { open, entities, text }) : openTag(source, at, open, text.length);
  }
  const left = open.at(-1);
  if (left !== undefined) fail(`Can't find end tag corresponding to start tag "${left.tag}"`);
  return { text, entities };
}

function openTag(source: string, at: number, open: OpenTag[], textLength: number): number {
  const where = bytesBefore(source, at);
  const name = /^<([a-z0-9-]*)/i.exec(source.slice(at, at + 40))?.[1]?.toLowerCase() ?? '';
  const end = source.indexOf('>', at);
  if (end < 0) fail(`Unclosed start tag at byte offset ${where}`);
  if (!Object.hasOwn(htmlTags, name)) fail(`Unsupported start tag "${name}" at byte offset ${where}`);
  const attributes: Record<string, string> = {};
  const inside = source.slice(at + 1 + name.length, end);
  const rest = inside.replace(/\s+([a-z-]+)(?:="([^"<>]*)")?/gi, (_whole, key: string, value: string | undefined) => {
    attributes[key] = value ?? '';
    return '';
  });
  if (rest.trim() !== '') fail(`Unexpected end of name token at byte offset ${where}`);
  open.push({ tag: name, at: textLength, attributes });
  return end + 1;
}

function closeTag(source: string, at: number, state: { open: OpenTag[]; entities: Entity[]; text: string }): number {
  const where = bytesBefore(source, at);
  const end = source.indexOf('>', at);
  if (end < 0) fail(`Unclosed end tag at byte offset ${where}`);
  const tag = source
    .slice(at + 2, end)
    .trim()
    .toLowerCase();
  const last = state.open.pop();
  if (last === undefined) return fail(`Unexpected end tag at byte offset ${where}`);
  if (tag !== last.tag) fail(`Unmatched end tag at byte offset ${where}, expected "</${last.tag}>", found "</${tag}>"`);
  const length = state.text.length - last.at;
  const type = htmlTags[tag] ?? '';
  const language = last.attributes['class']?.replace(/^language-/, '');
  if (length > 0)
    state.entities.push({
      type,
      offset: last.at,
      length,
      ...(last.attributes['href'] === undefined ? {} : { url: last.attributes['href'] }),
      ...(language === undefined ? {} : { language }),
    });
  return end + 1;
}

const reserved = new Set('_*[]()~`>#+-=|{}.!');
const marks: readonly (readonly [mark: string, type: string, name: string])[] = [
  ['||', 'spoiler', 'Spoiler'],
  ['__', 'underline', 'Underline'],
  ['*', 'bold', 'Bold'],
  ['_', 'italic', 'Italic'],
  ['~', 'strikethrough', 'Strikethrough'],
];

function findCodeEnd(source: string, from: number, mark: string): number {
  for (let at = from; at < source.length; at += source[at] === '\\' ? 2 : 1) if (source.startsWith(mark, at)) return at;
  return -1;
}

interface Reading {
  readonly source: string;
  readonly entities: Entity[];
  readonly open: { mark: string; name: string; type: string; at: number; where: number }[];
  text: string;
}

/** Parses bold, italic, underline, strikethrough, spoiler, code, pre and links. */
export function parseMarkdownV2(source: string): Parsed {
  const reading: Reading = { source, entities: [], open: [], text: '' };
  let at = 0;
  while (at < source.length)
    at = readEscape(reading, at) ?? readCode(reading, at) ?? readLink(reading, at) ?? readMark(reading, at) ?? readPlain(reading, at);
  const left = reading.open.at(-1);
  if (left !== undefined) fail(`Can't find end of ${left.name} entity at byte offset ${left.where}`);
  return { text: reading.text, entities: reading.entities };
}

function readEscape(reading: Reading, at: number): number | null {
  const next = reading.source[at + 1];
  if (reading.source[at] !== '\\' || next === undefined || next.charCodeAt(0) >= 127) return null;
  reading.text += next;
  return at + 2;
}

function readCode(reading: Reading, at: number): number | null {
  const { source, entities } = reading;
  const mark = source.startsWith('```', at) ? '```' : source[at] === '`' ? '`' : null;
  if (mark === null) return null;
  const end = findCodeEnd(source, at + mark.length, mark);
  if (end < 0) fail(`Can't find end of ${mark === '`' ? 'Code' : 'Pre'} entity at byte offset ${bytesBefore(source, at)}`);
  const inside = source.slice(at + mark.length, end).replaceAll(/\\([`\\])/g, '$1');
  entities.push({ type: mark === '`' ? 'code' : 'pre', offset: reading.text.length, length: inside.length });
  reading.text += inside;
  return end + mark.length;
}

function readLink(reading: Reading, at: number): number | null {
  const { source, entities } = reading;
  const link = source[at] === '[' ? /^\[((?:[^\]\\]|\\.)*)\]\(((?:[^)\\]|\\.)*)\)/.exec(source.slice(at)) : null;
  if (link === null) return null;
  const shown = (link[1] ?? '').replaceAll(/\\(.)/g, '$1');
  entities.push({ type: 'text_link', offset: reading.text.length, length: shown.length, url: (link[2] ?? '').replaceAll(/\\(.)/g, '$1') });
  reading.text += shown;
  return at + link[0].length;
}

function readMark({ source, open, entities, text }: Reading, at: number): number | null {
  const mark = marks.find(([one]) => source.startsWith(one, at));
  if (mark === undefined) return null;
  const last = open.at(-1);
  if (last?.mark === mark[0]) {
    open.pop();
    entities.push({ type: last.type, offset: last.at, length: text.length - last.at });
  } else open.push({ mark: mark[0], type: mark[1], name: mark[2], at: text.length, where: bytesBefore(source, at) });
  return at + mark[0].length;
}

function readPlain(reading: Reading, at: number): number {
  const character = reading.source[at] ?? '';
  if (reserved.has(character)) fail(`Character '${character}' is reserved and must be escaped with the preceding '\\'`);
  reading.text += character;
  return at + 1;
}
