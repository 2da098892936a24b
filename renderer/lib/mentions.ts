// Files mentioned in a message as @path, or @"a path with spaces": the mention being typed, and all mentions of a text. Reads no files.

import type { OpClient } from './client.ts';

export interface Mention {
  readonly query: string;
  readonly before: string;
  readonly after: string;
}

const begun = /(?:^|\s)@("[^"\n]*|[^\s"@]*)$/;
/** Punctuation after a path belongs to the sentence. */
const whole = /(?<=^|\s)@(?:"([^"\n]+)"|([^\s"@]+?)(?=[.,;:!?)]*(?:\s|$)))/g;
const namedMax = 20;

export function mentionAt(text: string, caret: number): Mention | null {
  const [, word] = begun.exec(text.slice(0, caret)) ?? [];
  if (word === undefined) return null;
  return { query: word.replace(/^"/, ''), before: text.slice(0, caret - word.length), after: text.slice(caret).replace(/^"/, '') };
}

export function withMention({ before, after }: Mention, path: string): { readonly line: string; readonly caret: number } {
  const named = `${before}${/\s/.test(path) ? `"${path}"` : path}${/^\s/.test(after) ? '' : ' '}`;
  return { line: named + after, caret: named.length };
}

/** The files of the session's folder that a text mentions. Words that name no file are ignored. */
export async function mentionedFiles(client: Pick<OpClient, 'op'>, sessionId: string | null, text: string): Promise<string[]> {
  const words = new Set([...text.matchAll(whole)].map(([, quoted, plain]) => quoted ?? plain ?? ''));
  const named = [...words].slice(0, namedMax).map(async (query) => {
    const { files } = await client.op('project.files', { query, ...(sessionId === null ? {} : { sessionId }) });
    return files.filter((path) => path === query);
  });
  return (await Promise.all(named)).flat();
}
