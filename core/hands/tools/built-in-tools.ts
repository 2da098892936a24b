// The list of built-in tools, wired with their dependencies. Starts nothing.

import type { Clock } from '../../base/clock.ts';
import type { ScriptBounds, ToolDefinition } from '../../contracts/tools.ts';
import { CommandAnalyst } from '../../guard/command/command.ts';
import type { CommandSandbox } from '../../guard/sandbox/sandbox.ts';
import { createAppendFile } from './append-file.ts';
import { createArtifactRead } from './artifact-read.ts';
import type { BackgroundCommands } from './background-commands.ts';
import { createCalc } from './calc.ts';
import { CheckedPaths } from './checked-paths.ts';
import type { Environment } from './child-environment.ts';
import { createEditFile } from './edit-file.ts';
import { createExec } from './exec.ts';
import { realPathFileSystem, type PathFileSystem } from './file-system-port.ts';
import { createGlob } from './glob.ts';
import { createGrep } from './grep.ts';
import { createListDir } from './list-dir.ts';
import { createMergeCopy } from './merge-copy.ts';
import { createMessage, type MessagePort } from './message.ts';
import { PathFacts } from './path-facts.ts';
import type { ProcessTrees } from './process-trees.ts';
import { createReadFile } from './read-file.ts';
import { createSessionSearch } from './session-search.ts';
import { findShell } from './shell-command.ts';
import { createWebTools, type WebDeps } from './web-tools.ts';
import { createWriteFile } from './write-file.ts';

export interface BuiltInToolDeps {
  /** Told of commands that run in the background. */
  readonly background?: BackgroundCommands;
  readonly processTrees: ProcessTrees;
  /** Asked right before a command starts. */
  readonly sandbox: CommandSandbox;
  readonly clock: Clock;
  /** The environment commands get a harmless part of. */
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  /** The folder that `~` expands to. */
  readonly userHome: string;
  /** Folder for command output that does not fit memory. */
  readonly temporaryFolder: string;
  /** Time limit of a foreground command that names none. */
  readonly execTimeoutMs: number;
  /** The host's bound, so that tools can divide long results themselves. */
  readonly outputBytesMax: number;
  readonly files?: PathFileSystem;
  readonly web: WebDeps;
  /** The chats messages can be sent to; null where there is no channel. */
  readonly chats: MessagePort | null;
  /** Why a command must not run with these files; null where nothing speaks against it. */
  readonly refusesFiles?: (paths: readonly string[]) => string | null;
  /** The bounds of the skill whose file is among these; null where none is. */
  readonly boundsOfFiles?: (paths: readonly string[]) => ScriptBounds | null;
}

export function createBuiltInTools(deps: BuiltInToolDeps): readonly ToolDefinition[] {
  const { outputBytesMax } = deps;
  const paths = new CheckedPaths(new PathFacts({ files: deps.files ?? realPathFileSystem, userHome: deps.userHome }));
  return [
    createReadFile({ paths, outputBytesMax }),
    createWriteFile({ paths }),
    createEditFile({ paths }),
    createAppendFile({ paths }),
    createListDir({ paths }),
    createGlob({ paths }),
    createGrep({ paths }),
    createCalc(),
    createSessionSearch(),
    createArtifactRead({ outputBytesMax }),
    createMergeCopy({ paths }),
    createExec({
      paths,
      analyst: new CommandAnalyst({ platform: deps.platform, nowMs: () => deps.clock.nowMs() }),
      trees: deps.processTrees,
      shell: findShell(deps.platform, deps.environment),
      sandbox: deps.sandbox,
      clock: deps.clock,
      environment: deps.environment,
      platform: deps.platform,
      ...(deps.refusesFiles === undefined ? {} : { refuses: deps.refusesFiles }),
      ...(deps.boundsOfFiles === undefined ? {} : { boundsOf: deps.boundsOfFiles }),
      temporaryFolder: deps.temporaryFolder,
      outputBytesMax,
      execTimeoutMs: deps.execTimeoutMs,
      ...(deps.background === undefined ? {} : { background: deps.background }),
    }),
    ...createWebTools(deps.web, outputBytesMax),
    ...(deps.chats === null ? [] : [createMessage({ paths, port: deps.chats })]),
  ];
}
