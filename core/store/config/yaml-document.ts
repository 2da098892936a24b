// Parses config.yaml as a YAML document with comments and positions, in time linear in the size of the file.

import type { Document } from 'yaml';
import { AppError } from '../../contracts/errors.ts';

/** The file contains a list or a single value instead of keys. */
export function noKeys(path: string): AppError {
  return new AppError('invalid_config', `${path} must hold keys and values, such as "models:".`);
}

/** Fails with `invalid_config` if the text is not YAML or contains a key twice. */
export async function readDocument(path: string, text: string): Promise<Document> {
  const { isScalar, LineCounter, parseDocument, visit } = await import('yaml');
  const lines = new LineCounter();
  // The library compares each key with all previous keys. A generated file with a hundred thousand keys would take hours.
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
