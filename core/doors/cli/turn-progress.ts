// One line that says what a turn is doing while nothing else is printed, and for how long. Only on a terminal, and only after a while.

import { objectIn } from '../../base/json.ts';
import type { Clock } from '../../base/clock.ts';
import { safeForTerminal } from '../../base/visible-text.ts';
import type { Output } from './output.ts';

const AFTER_MS = 2_000;
const EVERY_MS = 1_000;
const TEXT_MAX = 60;

export interface TurnProgressDeps {
  readonly output: Pick<Output, 'progress'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** True while the person types, so that the line is not drawn over it. */
  readonly isTyping: () => boolean;
}

export class TurnProgress {
  readonly #deps: TurnProgressDeps;
  #doing = '';
  #sinceMs = 0;
  #timer: NodeJS.Timeout | null = null;
  #isShown = false;

  constructor(deps: TurnProgressDeps) {
    this.#deps = deps;
  }

  /** `doing` such as "Thinking". */
  show(doing: string): void {
    if (doing === this.#doing && this.#timer !== null) return;
    this.hide();
    this.#doing = doing;
    this.#sinceMs = this.#deps.clock.nowMs();
    this.#timer = setInterval(() => this.#draw(), EVERY_MS);
    this.#timer.unref();
  }

  hide(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#isShown) this.#deps.output.progress(null);
    this.#isShown = false;
  }

  #draw(): void {
    const { clock, output, isTyping } = this.#deps;
    const tookMs = clock.nowMs() - this.#sinceMs;
    if (tookMs < AFTER_MS || isTyping()) return;
    this.#isShown = true;
    output.progress(`${clipped(this.#doing)} · ${Math.floor(tookMs / 1000)} s`);
  }
}

/** A call in a few words: the tool and the first text among its arguments, which says what it works on. */
export function callInWords(tool: string, argsJson: string): string {
  const first = Object.values(objectIn(argsJson) ?? {}).find((value) => typeof value === 'string');
  return first === undefined ? tool : `${tool} · ${first}`;
}

function clipped(text: string): string {
  const line = safeForTerminal(text).replaceAll(/\s+/g, ' ').trim();
  const characters = Array.from(line.slice(0, 4 * TEXT_MAX));
  return characters.length <= TEXT_MAX ? line : `${characters.slice(0, TEXT_MAX - 1).join('')}…`;
}
