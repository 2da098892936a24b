// The edit_file tool: replaces an exact piece of a text file, atomically. Never repeated automatically.

import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { contentHash, writeAtomically } from './atomic-write.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { suggestingNames } from './near-file.ts';
import { pathArgument, shownPath } from './path-argument.ts';
import { editText, whyNoEdit } from './text-edit.ts';
import { decodeText, encodeText } from '../../base/text-encoding.ts';
import { decodeExactly, encodeExactly, readBytes, readTextIfThere } from './text-file.ts';
import { temporarySuffix } from './write-file.ts';

const input = z
  .strictObject({
    path: pathArgument,
    old: z
      .string()
      .describe('The exact text to replace, including white space. It must occur exactly once in the file, unless replaceAll is set.'),
    new: z.string().describe('The new text.'),
    replaceAll: z.boolean().optional().describe('Replace every occurrence.'),
  })
  .superRefine((args, check) => {
    const message = whyNoEdit(args);
    if (message !== null) check.addIssue({ code: 'custom', message });
  });

export function createEditFile(deps: { readonly paths: CheckedPaths }): ToolDefinition {
  // The result of each edit, keyed by the call's own argument object, for its verification.
  const written = new WeakMap<object, string>();
  return defineTool({
    name: 'edit_file',
    description: 'Replace an exact piece of text in a file. Read the file first and copy the old text exactly.',
    input,
    class: 'write',
    shows: { verb: 'edit', target: ['path'] },
    idempotency: () => 'unsafe',
    // The tool knows in a moment whether it wrote, so closing the program leaves no call with an unknown outcome.
    abortGraceMs: 2_000,
    timeoutMs: 60_000,
    facts: (args, context) => deps.paths.callFacts(args, args.path, 'write', context),
    summarize: (args) => `edit ${shownPath(args.path)}`,
    async run(args, context) {
      const { real } = deps.paths.confirm(args, args.path, 'write', context);
      const { text, encoding } = decodeExactly(
        await suggestingNames(real, deps.paths.folders(context), () => readBytes(real, 'edit')),
        real,
      );
      const edited = editText(text, { old: args.old, new: args.new, replaceAll: args.replaceAll === true });
      if (!edited.ok) return { forModel: `${args.path} was not changed: ${edited.error}`, isError: true };
      context.signal.throwIfAborted();
      const bytes = encodeExactly(edited.value.text, encoding, `edit ${real}`);
      await writeAtomically(real, bytes, temporarySuffix(context.callId));
      written.set(args, contentHash(bytes));
      const { replaced, firstLine } = edited.value;
      const what = replaced === 1 ? `1 place, line ${firstLine}` : `${replaced} places, the first on line ${firstLine}`;
      return { forModel: `Edited ${args.path} (${what}).` };
    },
    async preview(args, context) {
      const path = deps.paths.look(args.path, context);
      const file = await readTextIfThere(path);
      const edited = file === null ? null : editText(file.text, { old: args.old, new: args.new, replaceAll: args.replaceAll === true });
      const after = file !== null && edited?.ok === true ? encodeText(edited.value.text, file.encoding) : null;
      return after === null ? null : { path, after };
    },
    async verify(args, context) {
      const { real } = deps.paths.confirm(args, args.path, 'write', context);
      const found = await readBytes(real, 'verify');
      const expected = written.get(args);
      const same = expected === undefined ? (decodeText(found)?.text.includes(args.new) ?? false) : contentHash(found) === expected;
      return { ok: same, detail: same ? `${args.path} holds the edit` : `${args.path} does not hold the edit` };
    },
  });
}
