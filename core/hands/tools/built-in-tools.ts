// Creates the list of built-in tools, wired with their dependencies. Starts nothing.

import type { ScriptBounds, ToolDefinition } from '../../contracts/tools.ts';
import { CommandAnalyst } from '../../guard/command/command.ts';
import { createAppendFile } from './append-file.ts';
import { createArtifactRead } from './artifact-read.ts';
import { createCalc } from './calc.ts';
import { CheckedPaths } from './checked-paths.ts';
import { createEditFile } from './edit-file.ts';
import { createExec } from './exec.ts';
import type { ExecDeps } from './exec-foreground.ts';
import { realPathFileSystem, type PathFileSystem } from './file-system-port.ts';
import { createGlob } from './glob.ts';
import { createGrep } from './grep.ts';
import { createListDir } from './list-dir.ts';
import { createMergeCopy } from './merge-copy.ts';
import { createMessage, type MessagePort } from './message.ts';
import { PathFacts } from './path-facts.ts';
import type { ProcessTrees } from './process-trees.ts';
import { createReadFile } from './read-file.ts';
import { RecentDocument } from './recent-document.ts';
import { createSessionSearch } from './session-search.ts';
import { findShell } from './shell-command.ts';
import { createWebTools, type WebDeps } from './web-tools.ts';
import { createWriteFile } from './write-file.ts';

/** `outputBytesMax` is the host's limit: tools split long results themselves. */
export interface BuiltInToolDeps extends Omit<ExecDeps, 'trees' | 'shell'> {
  readonly processTrees: ProcessTrees;
  /** The folder that `~` expands to. */
  readonly userHome: string;
  readonly files?: PathFileSystem;
  readonly web: WebDeps;
  /** The chats to which messages can be sent; null if there is no channel. */
  readonly chats: MessagePort | null;
  /** Returns why a command must not run with these files; null if it may. */
  readonly refusesFiles?: (paths: readonly string[]) => string | null;
  /** Returns the bounds of the skill to which one of these files belongs; null if none does. */
  readonly boundsOfFiles?: (paths: readonly string[]) => ScriptBounds | null;
}

export function createBuiltInTools(deps: BuiltInToolDeps): readonly ToolDefinition[] {
  const { outputBytesMax } = deps;
  const paths = new CheckedPaths(new PathFacts({ files: deps.files ?? realPathFileSystem, userHome: deps.userHome }));
  const documents = new RecentDocument();
  return [
    createReadFile({ paths, outputBytesMax, documents }),
    createWriteFile({ paths }),
    createEditFile({ paths }),
    createAppendFile({ paths }),
    createListDir({ paths }),
    createGlob({ paths }),
    createGrep({ paths }),
    createCalc(),
    createSessionSearch(),
    createArtifactRead({ outputBytesMax, documents }),
    createMergeCopy({ paths }),
    createExec({
      ...deps,
      paths,
      analyst: new CommandAnalyst({ platform: deps.platform, nowMs: () => deps.clock.nowMs() }),
      trees: deps.processTrees,
      shell: findShell(deps.platform, deps.environment),
      ...(deps.refusesFiles === undefined ? {} : { refuses: deps.refusesFiles }),
      ...(deps.boundsOfFiles === undefined ? {} : { boundsOf: deps.boundsOfFiles }),
    }),
    ...createWebTools(deps.web, outputBytesMax),
    ...(deps.chats === null ? [] : [createMessage({ paths, port: deps.chats })]),
  ];
}
