// What the specs of the window need of a host: somewhere the window is served from, with a model that says what a spec wants.
// Implemented by the development host here; the real `serve` with a scripted model server fits the same shape.

export interface ScriptedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One answer of the model; taken in order, one per model request. */
export interface ScriptedReply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  /** The request fails with this message instead. */
  readonly fails?: string;
  /** Pause between streamed pieces; 0 by default. */
  readonly pieceMs?: number;
}

export interface HostOptions {
  readonly replies?: readonly ScriptedReply[];
  /** Files of the workspace by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Finished turns in one earlier session. */
  readonly historyTurns?: number;
}

export interface WindowHost {
  readonly kind: 'development' | 'real';
  /** Without a path. */
  readonly origin: string;
  readonly token: string;
  /** Files of the workspace as they are now. */
  readFile(path: string): Promise<string | null>;
  close(): Promise<void>;
}

/** Things only the development host can do at will. */
export interface DevelopmentHost extends WindowHost {
  readonly kind: 'development';
  /** Stops answering, as a host that was ended; `resume` brings it back at the same address. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Records a call whose end nobody saw. */
  addUnknownOutcome(): void;
}

export type StartHost = (options?: HostOptions) => Promise<WindowHost>;
