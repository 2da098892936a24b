// The host of the window under test: the real server with a separate folder, and a scripted model.

import type { ConfigInput } from '../../../core/contracts/config.ts';
import type { Answer } from '../../doubles/scripted-model.ts';

export interface HostOptions {
  /** Used in order, one per model request; after the last one, the answer is "Done.". */
  readonly replies?: readonly Answer[];
  /** Workspace files by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /** The number of finished turns in one earlier session. */
  readonly historyTurns?: number;
  /** The number of events of a finished turn in a separate session. */
  readonly longTurnEvents?: number;
  /** Uses the offline demo instead of the scripted model. */
  readonly usesDemo?: boolean;
  /** Parts of config.yaml other than the model; each replaces the default part. */
  readonly config?: ConfigInput;
  /** Runs the built program in a separate process, for specs that kill or measure it. */
  readonly ownProcess?: boolean;
  /** Prepares the folder before the server starts. */
  readonly before?: (home: string) => Promise<void>;
}

export interface WindowHost {
  readonly kind: 'serve';
  /** The origin, without a path; unchanged by a restart. */
  readonly origin: string;
  /** The token of the current process; each process creates a new one. */
  readonly token: string;
  /** The current content of a workspace file. */
  readFile(path: string): Promise<string | null>;
  /** Changes a workspace file, as a person does outside the program. */
  writeFile(path: string, text: string): Promise<void>;
  /** Ends the process, in order by default. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts it again with the same folder and port. `later`: so long after its end that the token changes. */
  start(when?: { readonly later?: boolean }): Promise<void>;
  /** Replaces the answers of the model. */
  reply(replies: readonly Answer[]): void;
  /** Runs an operation through another door and resolves to its result. */
  op(name: string, params: Readonly<Record<string, unknown>>): Promise<unknown>;
  close(): Promise<void>;
}
