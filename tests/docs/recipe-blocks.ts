// Parses the recipes of CONTRIBUTING.md so that a program can follow them: a fenced block with a path is a new file, or (diff) lines to add
// to a file.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface RecipeBlock {
  readonly kind: string;
  readonly path: string;
  readonly text: string;
}

/** Throws if the recipe does not exist or has no code blocks. */
export function recipeBlocks(document: string, recipe: string): readonly RecipeBlock[] {
  const section = document.split(/^### /m).find((part) => part.startsWith(`${recipe}\n`)) ?? '';
  const found = [...section.matchAll(/^```(\w+) (\S+)\n([\s\S]*?)^```$/gm)];
  if (found.length === 0) throw new Error(`CONTRIBUTING.md has no recipe "${recipe}" with blocks that name a path`);
  return found.map(([, kind = '', path = '', text = '']) => ({ kind, path, text }));
}

export interface Followed {
  readonly added: readonly string[];
  readonly changed: readonly string[];
}

/** Throws if a file to add already exists, or if the lines around an addition do not occur exactly once: the recipe is then out of date. */
export function followRecipe(root: string, blocks: readonly RecipeBlock[]): Followed {
  const changed = new Set<string>();
  const added: string[] = [];
  for (const { kind, path, text } of blocks) {
    const file = join(root, path);
    if (kind === 'diff') {
      writeFileSync(file, withChange(readFileSync(file, 'utf8'), path, text));
      changed.add(path);
      continue;
    }
    if (existsSync(file)) throw new Error(`the recipe adds ${path}, which is there already`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    added.push(path);
  }
  return { added, changed: [...changed].sort() };
}

function withChange(source: string, path: string, diff: string): string {
  const lines = diff.trimEnd().split('\n');
  const side = (dropped: string): string =>
    lines
      .filter((line) => !line.startsWith(dropped))
      .map((line) => line.slice(1))
      .join('\n');
  const parts = source.split(side('+'));
  if (parts.length !== 2) throw new Error(`${path} has these lines ${parts.length - 1} times, not once:\n${side('+')}`);
  return parts.join(side('-'));
}
