// The commands that run in the background, as a person sees them: each with its newest output, and a way to end it. Starts none; tools that
// start background commands register their lists here.

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
  /** Returns false if there is no such command. */
  stop(id: string): Promise<boolean>;
}

export class BackgroundCommands {
  readonly #sources: BackgroundSource[] = [];

  join(source: BackgroundSource): void {
    this.#sources.push(source);
  }

  list(): readonly ShownCommand[] {
    return this.#sources.flatMap((source) => source.running());
  }

  async stop(id: string): Promise<boolean> {
    for (const source of this.#sources) if (await source.stop(id)) return true;
    return false;
  }
}
