// The name of an artifact for people: a long result that a call stored is named after the call, not after its id. Pure.

import type { Words } from './i18n/words.ts';

export function artifactName(name: string, words: Words['chat']): string {
  const [, tool] = /^(.+)-call_[0-9A-Za-z]+\.txt$/.exec(name) ?? [];
  return tool === undefined ? name : words.outputOf(tool);
}
