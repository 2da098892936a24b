// Checks the import graph of a source tree against the rules in layers.ts. A file on disk that is missing in the graph is also a problem:
// an empty graph would satisfy all rules.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, type IViolation } from 'dependency-cruiser';
import { listFiles, sourceFolders } from './files.mjs';
import { forbidden, options } from './layers.ts';

const MODULE = /\.(ts|svelte)$/;

/** Returns one line for each problem. */
export async function findLayerProblems(root: string): Promise<{ modules: number; problems: string[] }> {
  const folders = [...sourceFolders, 'tests'].filter((folder) => existsSync(join(root, folder)));
  const onDisk = listFiles(root, folders).filter((path) => MODULE.test(path) && !path.startsWith('tests/fixtures/'));
  if (onDisk.length === 0) return { modules: 0, problems: [`no source file below ${root}`] };
  const { output } = await cruise(folders, { ...options, baseDir: root, ruleSet: { forbidden }, validate: true });
  if (typeof output === 'string') throw new TypeError('the import graph came back as text');
  const seen = new Set(output.modules.map((module) => module.source));
  const unseen = onDisk.filter((path) => !seen.has(path)).map((path) => `not in the import graph: ${path}`);
  return { modules: onDisk.length, problems: [...unseen, ...output.summary.violations.map(describe)] };
}

function describe({ rule, from, to, cycle }: IViolation) {
  const path = cycle ? [from, ...cycle.map((step) => step.name)].join(' → ') : `${from} → ${to}`;
  const comment = forbidden.find(({ name }) => name === rule.name)?.comment;
  return `${rule.name}: ${path}${comment ? ` (${comment})` : ''}`;
}
