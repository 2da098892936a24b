// The state of the whole instance: connection, panic stop, models, spending. Derived from operations and events.

import type { AnyEvent } from '../../../core/contracts/events.ts';
import type { OpResult } from '../../../core/contracts/ops.ts';
import type { PanicStatus } from '../../../core/contracts/policy.ts';
import type { LinkState, OpClient } from '../client.ts';
import { soon } from './soon.ts';

const calm: PanicStatus = { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };
const usageEveryMs = 2000;

export class System {
  link = $state<LinkState>('connecting');
  #panic = $state.raw<PanicStatus>(calm);
  /** The stop was pressed, and its effect is not counted yet. */
  isStopping = $state(false);
  /** The stop was pressed in this window, so its banner takes the focus, once. */
  isPressedHere = false;
  /** A release was requested and needs a confirmation. */
  asksRelease = $state(false);
  /** Sessions whose turn the stop ended, as far as this window saw it; the latest first. */
  stoppedSessions = $state.raw<readonly string[]>([]);
  models = $state.raw<OpResult<'model.list'>['models']>([]);
  defaultModel = $state<string | null>(null);
  modelsLoaded = $state(false);
  /** The missing part if no model answers, or only the demo; null if all is well. */
  problem = $state.raw<OpResult<'model.list'>['problem']>(null);
  /** Keys found in the environment, by the names of their variables. */
  offers = $state.raw<OpResult<'model.list'>['offers']>([]);
  usage = $state.raw<OpResult<'usage.get'> | null>(null);
  /** Increases with every change of the settings, by any client. */
  configChanges = $state(0);
  readonly #client: OpClient;
  readonly #onError: (cause: unknown) => void;
  /** Counts changes of the panic stop, so that an answer older than a change is ignored. */
  #panicChanges = 0;
  readonly #usageSoon: () => void;

  constructor(client: OpClient, onError: (cause: unknown) => void) {
    this.#client = client;
    this.#onError = onError;
    this.#usageSoon = soon(() => this.#loadUsage(), onError, usageEveryMs);
  }

  get panic(): PanicStatus {
    return this.#panic;
  }

  set panic(status: PanicStatus) {
    this.#panicChanges += 1;
    this.#panic = status;
  }

  async load(): Promise<void> {
    await Promise.all([this.#readModels(), this.#readPanic(), this.#loadUsage()]);
  }

  async #readModels(): Promise<void> {
    const models = await this.#client.op('model.list', {});
    this.#showModels(models);
    // The providers' lists come later and may fail: nothing waits for them, and Settings shows the error.
    if (models.models.some(({ source }) => source === 'configured')) void this.lookForModels().catch(() => undefined);
  }

  /** Queries the model servers of this computer, and providers whose list is outdated. */
  async lookForModels(): Promise<void> {
    this.#showModels(await this.#client.op('model.list', { look: true }));
  }

  #showModels({ models, defaultModel, problem, offers }: OpResult<'model.list'>): void {
    this.models = models;
    this.problem = problem;
    this.offers = offers;
    this.defaultModel = defaultModel;
    this.modelsLoaded = true;
  }

  async engagePanic(): Promise<void> {
    const reason = 'Panic stop in the window';
    this.isPressedHere = true;
    this.asksRelease = false;
    this.#stopping(reason);
    try {
      this.panic = await this.#client.op('panic.engage', { reason });
    } catch (cause) {
      // The stop applies even if it could not be recorded.
      await this.#readPanic();
      throw cause;
    } finally {
      this.isStopping = false;
    }
  }

  /** The stop was pressed elsewhere: shows it now, then reads the actual state. */
  async lookStopped(): Promise<void> {
    this.#stopping('Pressed outside the window.');
    await this.#readPanic();
    this.isStopping = this.panic.engaged && this.panic.tookMs === null;
  }

  #stopping(reason: string): void {
    this.isStopping = true;
    this.#engaged(reason, Date.now());
  }

  async #readPanic(): Promise<void> {
    const changes = this.#panicChanges;
    const status = await this.#client.op('panic.status', {});
    // The stop may have been pressed or released since this was requested.
    if (changes === this.#panicChanges) this.panic = status;
  }

  async releasePanic(): Promise<void> {
    this.#settled(await this.#client.op('panic.release', {}));
  }

  apply(event: AnyEvent): void {
    if (event.type === 'panic.engaged') this.#engaged(event.body.reason, event.atMs);
    else if (event.type === 'panic.measured') this.#settled({ ...this.panic, killed: event.body.killed, tookMs: event.body.tookMs });
    else if (event.type === 'panic.released') this.#settled(calm);
    else if (event.type === 'turn.finished') this.#turnEnded(event.sessionId, event.body.status);
    else if (event.type === 'config.changed') this.#configChanged();
  }

  #turnEnded(sessionId: string, status: string): void {
    this.#usageSoon();
    if (status === 'stopped') this.stoppedSessions = [sessionId, ...this.stoppedSessions.filter((known) => known !== sessionId)];
  }

  #configChanged(): void {
    this.configChanges += 1;
    void this.load().catch(this.#onError);
  }

  #settled(panic: PanicStatus): void {
    this.panic = panic;
    this.isStopping = false;
    if (!panic.engaged) this.#forgetStop();
  }

  #forgetStop(): void {
    this.asksRelease = false;
    this.isPressedHere = false;
    this.stoppedSessions = [];
  }

  #engaged(reason: string, atMs: number): void {
    // The operation's answer may have arrived first, with the counts of what was ended.
    this.panic = this.panic.engaged ? { ...this.panic, reason } : { ...calm, engaged: true, sinceMs: atMs, reason };
  }

  async #loadUsage(): Promise<void> {
    this.usage = await this.#client.op('usage.get', { by: 'day', days: 30 });
  }
}
