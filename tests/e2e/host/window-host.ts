// The host of the window under test: the real server on a separate folder, and a model that says what a spec wants.

import type { ConfigInput } from '../../../core/contracts/config.ts';
import type { Answer } from '../../doubles/scripted-model.ts';

export interface HostOptions {
  /** Taken in order, one per model request; "Done." when there are no more. */
  readonly replies?: readonly Answer[];
  /** Files of the workspace by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Finished turns in one earlier session. */
  readonly historyTurns?: number;
  /** A finished turn of so many events, in a separate session. */
  readonly longTurnEvents?: number;
  /** The offline demo answers, and no scripted model. */
  readonly usesDemo?: boolean;
  /** Parts of config.yaml besides the model; each replaces the usual part. */
  readonly config?: ConfigInput;
  /** The built program in a separate process, as a person runs it: for specs that kill or measure it. */
  readonly ownProcess?: boolean;
  /** Events on the folder before the server starts on it. */
  readonly before?: (home: string) => Promise<void>;
}

export interface WindowHost {
  readonly kind: 'serve';
  /** Without a path; the same after a restart. */
  readonly origin: string;
  /** Of the process that runs now; each one makes its own. */
  readonly token: string;
  /** Files of the workspace as they are now. */
  readFile(path: string): Promise<string | null>;
  /** Changes a file of the workspace, as a person does outside the program. */
  writeFile(path: string, text: string): Promise<void>;
  /** Ends the process, orderly unless told otherwise. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts it again on the same folder and port; `later`: so long after its end that the token is another. */
  start(when?: { readonly later?: boolean }): Promise<void>;
  /** An operation through another door: its result. */
  op(name: string, params: Readonly<Record<string, unknown>>): Promise<unknown>;
  close(): Promise<void>;
}
