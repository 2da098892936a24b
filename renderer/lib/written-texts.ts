// The texts of the files that an agent wrote and read, from its calls: a new text and edits of it. Unknown if anything else wrote the file,
// or if a call edited a text that no call contains. Pure.

import { changedFiles, changedNames, type CallView, type TurnView } from '../../core/contracts/turn-view.ts';
import { parseArguments } from './describe-call.ts';

/** The text as the agent last left it, by resolved path. Undone calls do not count. */
export function writtenTexts(calls: readonly CallView[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const call of calls) {
    if (call.state !== 'ok' || call.undoneBy !== null) continue;
    for (const { path } of changedFiles(call)) {
      const text = textAfter(call, texts.get(path));
      if (text === undefined) texts.delete(path);
      else texts.set(path, text);
    }
  }
  return texts;
}

function textAfter({ tool, args }: CallView, before: string | undefined): string | undefined {
  const given = parseArguments(args);
  if (tool === 'write_file') return typeof given['content'] === 'string' ? given['content'] : undefined;
  const { old, new: put, replaceAll } = given;
  if (tool !== 'edit_file' || typeof old !== 'string' || typeof put !== 'string' || before?.includes(old) !== true) return undefined;
  // A function, because a dollar sign in the text has a meaning in a replacement pattern.
  return replaceAll === true ? before.replaceAll(old, () => put) : before.replace(old, () => put);
}

/** The text that the agent last read from a file, by the name that the call used: of a document its text, of a long file a part. */
export function readTexts(calls: readonly CallView[]): ReadonlyMap<string, string> {
  const reads = calls.filter(({ tool, state }) => tool === 'read_file' && state === 'ok');
  return new Map(reads.flatMap(({ decision, forModel }) => (decision?.facts.paths ?? []).map(({ given }) => [given, forModel] as const)));
}

/** The files that a turn read and changed, by the names that its calls used, each as the side panel knows it. */
export function namedFiles(turn: TurnView): ReadonlyMap<string, string> {
  const read = [...readTexts(Object.values(turn.calls)).keys()].map((name) => [name, name] as const);
  return new Map([...read, ...[...changedNames(turn)].map(([path, name]) => [name, path] as const)]);
}
