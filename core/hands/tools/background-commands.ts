// The commands that run in the background, as a person sees them: each with its newest output, and a way to end it. Starts none; the exec
// tool joins with its own.

export interface ShownCommand {
  readonly id: string;
  readonly command: string;
  /** The session whose call started it. */
  readonly sessionId: string;
  readonly startedAtMs: number;
  /** The end of its output. */
  readonly output: string;
}

export interface BackgroundSource {
  running(): readonly ShownCommand[];
  /** False when there is no such command. */
  stop(id: string): Promise<boolean>;
}

export class BackgroundCommands {
  #source: BackgroundSource | null = null;

  join(source: BackgroundSource): void {
    this.#source = source;
  }

  list(): readonly ShownCommand[] {
    return this.#source?.running() ?? [];
  }

  stop(id: string): Promise<boolean> {
    return this.#source?.stop(id) ?? Promise.resolve(false);
  }
}
