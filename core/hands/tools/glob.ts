// The glob tool: lists files whose path matches a pattern, sorted and bounded.

import { relative, sep } from 'node:path';
import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { newWalkReport, walkFiles, walkRemarks } from './folder-walk.ts';
import { isInside } from '../../base/inside-folder.ts';
import { globMatcher } from '../../base/wildcard.ts';
import { printable } from './list-dir.ts';
import { folderArgument, shownPath } from './path-argument.ts';

const FILES_SHOWN_MAX = 1000;

const patternArgument = z
  .string()
  .min(1)
  .max(1000)
  .refine((pattern) => !pattern.startsWith('/') && !pattern.split(/[\\/]/).includes('..'), 'give the folder as "path", not in the pattern');

const input = z.strictObject({
  pattern: patternArgument.describe(
    'Pattern such as **/*.ts or src/{a,b}/*.md, relative to the folder. * matches within one folder, ** across folders.',
  ),
  path: folderArgument,
});

export function createGlob(deps: { readonly paths: CheckedPaths }): ToolDefinition {
  return defineTool({
    name: 'glob',
    description: 'Find files by a pattern of their path. Skips .git and what .gitignore excludes.',
    input,
    class: 'read',
    shows: { verb: 'look_for', target: ['pattern'] },
    idempotency: () => 'pure',
    timeoutMs: 60_000,
    facts: (args, context) => deps.paths.callFacts(args, args.path, 'read', context),
    summarize: (args) => `find files like ${shownPath(args.pattern)} in ${shownPath(args.path)}`,
    async run(args, context) {
      const { real } = deps.paths.confirm(args, args.path, 'read', context);
      const folders = deps.paths.folders(context);
      const matches = pathMatcher(args.pattern);
      const report = newWalkReport();
      const found: string[] = [];
      let more = false;
      for await (const file of walkFiles({ root: real, folders, signal: context.signal }, report)) {
        if (!matches(relative(real, file.path))) continue;
        if (found.length === FILES_SHOWN_MAX) {
          more = true;
          break;
        }
        found.push(printable(pathForModel(file.path, folders.workspace)));
      }
      const remarks = walkRemarks(report, found.length > 0);
      if (more) remarks.unshift(`only the first ${FILES_SHOWN_MAX} files are listed; use a narrower pattern`);
      const notes = remarks.length === 0 ? '' : `\n[${remarks.join('; ')}]`;
      return { forModel: (found.length === 0 ? 'No file matches.' : found.sort().join('\n')) + notes };
    },
  });
}

/** Matches paths relative to the searched folder. A pattern without a slash matches names at the top only, as in a shell. */
export function pathMatcher(pattern: string): (path: string) => boolean {
  const plain = pattern.startsWith('./') ? pattern.slice(2) : pattern;
  const matches = globMatcher(plain.normalize());
  return (path) => matches((sep === '/' ? path : path.split(sep).join('/')).normalize());
}

/** Formats a path so that the next call can use it: relative inside the workspace, absolute elsewhere. */
export function pathForModel(path: string, workspace: string): string {
  return isInside(path, workspace) ? relative(workspace, path) || '.' : path;
}
