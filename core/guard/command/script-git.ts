// Finds out whether a command runs git by way of a file: a script of the project, or a task of it. Reads the files; runs nothing.

import { bindingsOf, type CommandFact } from '../../contracts/tools.ts';
import { filesNamedBy } from './named-scripts.ts';
import { readSmall } from './project-files.ts';

/** Subcommands that show or bring back what git keeps. */
const history =
  /[\s"'](?:show|checkout|restore|log|cat-file|diff|stash|reset|switch|archive|worktree|merge|rebase|cherry-pick|revert|apply|am|pull|clone|fetch|blame|annotate|grep|format-patch|read-tree|lfs|submodule)\b/;
const BYTES_MAX = 256_000;

export function runsGit(fact: CommandFact): boolean {
  const bound = (bindingsOf(fact) ?? []).filter(({ kind }) => kind === 'script' || kind === 'config').map(({ name }) => name);
  const files = new Set([...bound, ...filesNamedBy(fact.line, fact.cwd)]);
  return [...files].some((file) => usesHistory(readSmall(file, BYTES_MAX) ?? ''));
}

function usesHistory(text: string): boolean {
  return text.split(/[\n;|&]/).some((part) => {
    const at = part.search(/\bgit\b/);
    return at >= 0 && history.test(part.slice(at));
  });
}
