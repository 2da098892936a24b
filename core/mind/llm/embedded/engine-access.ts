// Gives access to the engine, whose code is loaded only with the first request.

import { AppError } from '../../../contracts/errors.ts';
import type { EmbeddedEngine, EngineDeps } from './embedded-engine.ts';
import { modelFilePath } from './engine-place.ts';

export interface EngineAccessDeps extends Omit<EngineDeps, 'start'> {
  /** Defaults to starting children with Node. */
  readonly start?: EngineDeps['start'] | undefined;
}

export class EngineAccess {
  readonly #deps: EngineAccessDeps;
  #engine: Promise<EmbeddedEngine> | null = null;
  #isClosed = false;

  constructor(deps: EngineAccessDeps) {
    this.#deps = deps;
  }

  pathOf(file: string): string {
    return modelFilePath(file, this.#deps.home, this.#deps.userHome);
  }

  open(): Promise<EmbeddedEngine> {
    if (this.#isClosed) return Promise.reject(new AppError('cancelled', 'The program is closing.'));
    this.#engine ??= this.#create();
    return this.#engine;
  }

  /** Ends every child; the next request starts a new one. */
  async stop(): Promise<void> {
    await (await this.#engine)?.stop();
  }

  async dispose(): Promise<void> {
    this.#isClosed = true;
    await (await this.#engine)?.dispose();
  }

  async #create(): Promise<EmbeddedEngine> {
    const { EmbeddedEngine: Engine } = await import('./embedded-engine.ts');
    const { start = (await import('./start-child.ts')).startNodeChild } = this.#deps;
    return new Engine({ ...this.#deps, start });
  }
}
