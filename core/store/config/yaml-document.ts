// The one reading of config.yaml as a YAML document: with comments and places, and in time that grows with the file.

import type { Document } from 'yaml';
import { AppError } from '../../contracts/errors.ts';

/** The file holds a list or a word. */
export function noKeys(path: string): AppError {
  return new AppError('invalid_config', `${path} must hold keys and values, such as "models:".`);
}

/** Fails with `invalid_config` if it is not YAML, or names a key twice. */
export async function readDocument(path: string, text: string): Promise<Document> {
  const { isScalar, LineCounter, parseDocument, visit } = await import('yaml');
  const lines = new LineCounter();
  // The library compares each key with all before it: a generated file of a hundred thousand keys would take hours.
  const document: Document = parseDocument(text, { prettyErrors: true, lineCounter: lines, uniqueKeys: false });
  const [first] = document.errors;
  if (first !== undefined) {
    const why = first.code === 'MULTIPLE_DOCS' ? 'a line of --- begins a second document; settings are one.' : first.message;
    throw new AppError('invalid_config', `${path} is not valid YAML: ${why}`, { cause: first });
  }
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const at = key.range === null || key.range === undefined ? '' : ` in line ${lines.linePos(key.range[0]).line}`;
          throw new AppError('invalid_config', `${path} is not valid YAML: ${String(key.value)} is named a second time${at}.`);
        }
        seen.add(key.value);
      }
    },
  });
  return document;
}
