// Selects the turns of a session that are in the page. They are in normal flow, so that finding, selecting and reading aloud work as in any
// document. Their number is limited: scrolling adds turns on one side and removes distant ones on the other.

import { tick } from 'svelte';
import type { TurnView } from '../../../core/contracts/turn-view.ts';

export interface TurnSource {
  readonly turns: readonly TurnView[];
  /** True if the host has older turns that are not loaded. */
  readonly hasEarlier: boolean;
  /** True if the host has newer turns that are not loaded, because an older part is being read. */
  readonly hasLater: boolean;
  loadEarlier(): Promise<void>;
  loadLater(): Promise<void>;
}

/** The initial number; enough to fill a tall screen with short answers in few steps. */
const turnsAtFirst = 8;
/** The number added to the page in one frame. */
const turnsPerFrame = 3;
/** Above this number, turns on the farther side are removed. */
const turnsMax = 40;
/** The number that remains while the person follows the end. */
const turnsKept = 24;
/** How far beyond the visible part turns are kept rendered, in screen heights. */
const screensReady = 1.5;
const stepsMax = 200;

export class TurnWindow {
  readonly #source: () => TurnSource;
  #firstId = $state.raw<string | null>(null);
  /** The last rendered turn; null for the newest, including new ones. */
  #lastId = $state.raw<string | null>(null);
  #region: HTMLElement | undefined;
  #isFilling = false;

  constructor(source: () => TurnSource) {
    this.#source = source;
  }

  readonly #end = $derived.by(() => {
    const last = this.#lastId === null ? -1 : this.#indexOf(this.#lastId);
    return last === -1 ? this.#turns.length : last + 1;
  });

  readonly #start = $derived.by(() => {
    const first = this.#firstId === null ? -1 : this.#indexOf(this.#firstId);
    return first === -1 ? Math.max(0, this.#end - turnsAtFirst) : Math.min(first, this.#end);
  });

  readonly shown = $derived(this.#turns.slice(this.#start, this.#end));
  readonly hasLater = $derived.by(() => this.#end < this.#turns.length || this.#source().hasLater);
  readonly hasEarlier = $derived.by(() => this.#start > 0 || this.#source().hasEarlier);

  /** Follows the scrolling of the region until the returned function is called. */
  attach(region: HTMLElement): () => void {
    this.#region = region;
    const look = (): void => void this.fill();
    const observer = new ResizeObserver(look);
    observer.observe(region);
    region.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      region.removeEventListener('scroll', look);
      this.#region = undefined;
    };
  }

  /** Keeps visible turns when new ones arrive at the end. Above the limit, drops the oldest for a person at the end, else the newest. */
  keepUp(isAtEnd: boolean): void {
    const count = this.#turns.length;
    if (count === 0) return;
    const tooMany = this.#end - this.#start - turnsMax;
    if (this.#firstId === null) this.#firstId = this.#idAt(this.#start);
    if (this.#lastId !== null || tooMany <= 0) return;
    if (isAtEnd) this.#firstId = this.#idAt(count - turnsKept);
    else this.#lastId = this.#idAt(this.#end - 1 - tooMany);
  }

  /** Renders turns until enough are ready on both sides, a few in each frame. */
  async fill(): Promise<void> {
    if (this.#isFilling) return;
    this.#isFilling = true;
    try {
      for (let step = 0; step < stepsMax && (await this.#fillStep()); step++) await nextFrame();
    } finally {
      this.#isFilling = false;
    }
  }

  /** Renders all turns while `work` runs, and afterwards those from before. */
  async withAll(work: () => void): Promise<void> {
    const [firstId, lastId] = [this.#firstId, this.#lastId];
    const top = this.#region?.scrollTop;
    this.#isFilling = true;
    try {
      this.#lastId = null;
      for (let step = 0; step < stepsMax && this.#source().hasEarlier; step++) await this.#source().loadEarlier();
      this.#firstId = this.#idAt(0);
      await tick();
      await nextFrame();
      work();
    } finally {
      this.#isFilling = false;
      [this.#firstId, this.#lastId] = [firstId, lastId];
    }
    await tick();
    if (this.#region !== undefined && top !== undefined) this.#region.scrollTop = top;
  }

  async toNewest(): Promise<void> {
    this.#lastId = null;
    this.#firstId = this.#idAt(Math.max(0, this.#turns.length - turnsAtFirst));
    await tick();
  }

  /** Renders one turn and those around it. */
  async showAround(turnId: string): Promise<void> {
    const index = this.#indexOf(turnId);
    const last = Math.min(this.#turns.length, index + turnsAtFirst);
    this.#firstId = this.#idAt(Math.max(0, index - turnsAtFirst / 2));
    this.#lastId = last < this.#turns.length ? this.#idAt(last - 1) : null;
    await tick();
  }

  async showEarlier(): Promise<void> {
    if (this.#start < turnsPerFrame && this.#source().hasEarlier) {
      this.#firstId = this.#idAt(this.#start);
      await this.#source().loadEarlier();
    }
    const start = Math.max(0, this.#start - turnsPerFrame);
    const tooMany = this.#end - start - turnsMax;
    await this.#holding(() => {
      this.#firstId = this.#idAt(start);
      if (tooMany > 0) this.#lastId = this.#idAt(this.#end - 1 - tooMany);
    });
  }

  get #turns(): readonly TurnView[] {
    return this.#source().turns;
  }

  async #fillStep(): Promise<boolean> {
    const region = this.#region;
    // Not laid out, or nothing to scroll yet, so there is no side to fill.
    if (region === undefined || region.clientHeight === 0 || this.#turns.length === 0) return false;
    const readyPx = region.clientHeight * screensReady;
    if (region.scrollTop < readyPx && this.hasEarlier) {
      const before = this.#idAt(this.#start);
      await this.showEarlier();
      return this.#idAt(this.#start) !== before;
    }
    if (region.scrollHeight - region.clientHeight - region.scrollTop < readyPx && this.hasLater) {
      const before = this.#idAt(this.#end - 1);
      await this.#showLater();
      return this.#idAt(this.#end - 1) !== before;
    }
    return false;
  }

  async #showLater(): Promise<void> {
    if (this.#end >= this.#turns.length) {
      this.#lastId = this.#idAt(this.#end - 1);
      await this.#source().loadLater();
    }
    const end = Math.min(this.#turns.length, this.#end + turnsPerFrame);
    const start = Math.max(this.#start, end - turnsMax);
    await this.#holding(() => {
      this.#lastId = end < this.#turns.length ? this.#idAt(end - 1) : null;
      this.#firstId = this.#idAt(start);
    });
  }

  /** Changes the rendered turns; the text being read keeps its place. */
  async #holding(change: () => void): Promise<void> {
    const region = this.#region;
    const anchor = region === undefined ? undefined : firstVisible(region);
    const topBefore = anchor?.getBoundingClientRect().top ?? 0;
    change();
    await tick();
    if (region === undefined || anchor?.isConnected !== true) return;
    const moved = anchor.getBoundingClientRect().top - topBefore;
    if (Math.abs(moved) >= 1) region.scrollTop += moved;
  }

  #indexOf(turnId: string): number {
    return this.#turns.findIndex((turn) => turn.turnId === turnId);
  }

  #idAt(index: number): string | null {
    return this.#turns[index]?.turnId ?? null;
  }
}

function firstVisible(region: HTMLElement): Element | undefined {
  const { top } = region.getBoundingClientRect();
  return [...region.querySelectorAll('[data-turn]')].find((element) => element.getBoundingClientRect().bottom > top);
}

function nextFrame(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => resolve()));
}
