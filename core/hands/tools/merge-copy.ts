// The merge_copy tool: merges the differences of a workspace copy into the workspace. Only the program calls it; the gate sees every path,
// and a checkpoint saves the previous files. Idempotent, so it may be repeated after a crash.

import { counted } from '../../base/counted.ts';
import { chmod, readFile, readlink, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import { mergeChangeSchema, mergeCopyTool, mergeFilesMax, type MergeChange } from '../../contracts/workspace-ops.ts';
import { writeAtomically } from './atomic-write.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { defineTool } from './define-tool.ts';
import { temporarySuffix } from './write-file.ts';

const input = z.strictObject({ from: z.string().min(1), changes: z.array(mergeChangeSchema).min(1).max(mergeFilesMax) });

export function createMergeCopy({ paths }: { readonly paths: CheckedPaths }): ToolDefinition {
  return defineTool({
    name: mergeCopyTool,
    description: 'Takes over the files of a chosen candidate into the workspace.',
    input,
    class: 'write',
    shows: { verb: 'write', target: ['from'] },
    isInternal: true,
    idempotency: () => 'idempotent',
    timeoutMs: 300_000,
    facts: ({ changes }, context) => ({
      class: changes.some(({ kind }) => kind === 'delete') ? 'destructive' : 'write',
      paths: changes.map((change) => paths.fact(change, change.path, 'write', context)),
      command: null,
      hosts: [],
    }),
    summarize: ({ changes }) => `take over ${counted(changes.length, 'changed file')} of the chosen candidate`,
    async run({ from, changes }, context) {
      for (const change of changes) await takeOver(paths, from, change, context);
      return { forModel: `Took over ${counted(changes.length, 'file')}.` };
    },
  });
}

async function takeOver(paths: CheckedPaths, from: string, change: MergeChange, context: ToolContext): Promise<void> {
  const { real } = paths.confirm(change, change.path, 'write', context);
  context.signal.throwIfAborted();
  if (change.kind === 'delete') return rm(real, { force: true });
  const source = join(from, change.path);
  const target = await readlink(source).catch(() => null);
  if (target !== null) {
    await rm(real, { force: true });
    return symlink(target, real);
  }
  await writeAtomically(real, await readFile(source), temporarySuffix(context.callId));
  const { mode } = await stat(source);
  if ((mode & 0o111) !== 0) await chmod(real, mode & 0o777);
}
