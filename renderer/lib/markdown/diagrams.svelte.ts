// State shared by all diagrams of the window: their look, how many pages may draw at once, and earlier results by source, so that a diagram
// that scrolls back into view has its size from the start.

import { diagramColours, type DiagramLook, type DiagramReply } from '../../diagram/diagram-messages.ts';

/** Each drawing page uses memory; one screen never shows more than this many. */
const seatsMax = 12;
const keptMax = 200;

export class Diagrams {
  /** Counts changes of the window's look. */
  lookCount = $state(0);
  readonly #kept = new Map<string, DiagramReply>();
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  /** Follows the theme as long as the page lives. */
  constructor(page: Document) {
    const changed = (): void => void (this.lookCount += 1);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
    new MutationObserver(changed).observe(page.documentElement, { attributeFilter: ['data-theme', 'data-contrast'] });
  }

  recall(source: string): DiagramReply | null {
    return this.#kept.get(source) ?? null;
  }

  keep(source: string, reply: DiagramReply): void {
    this.#kept.delete(source);
    this.#kept.set(source, reply);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Calls back once there is room for one more page; the returned function frees the place, or cancels the wait. */
  takeSeat(seated: () => void): () => void {
    let isSeated = false;
    const sit = (): void => {
      isSeated = true;
      this.#taken += 1;
      seated();
    };
    if (this.#taken < seatsMax) sit();
    else this.#waiting.push(sit);
    return () => {
      if (!isSeated) {
        const at = this.#waiting.indexOf(sit);
        if (at !== -1) this.#waiting.splice(at, 1);
        return;
      }
      isSeated = false;
      this.#taken -= 1;
      this.#waiting.shift()?.();
    };
  }
}

/** The values of the tokens at this element. */
export function readLook(at: HTMLElement): DiagramLook {
  const probe = document.createElement('span');
  at.append(probe);
  const colours = Object.fromEntries(
    diagramColours.map((name) => {
      probe.style.setProperty('color', `var(--${name})`);
      return [name, toHex(getComputedStyle(probe).color)];
    }),
  ) as DiagramLook['colours'];
  const { fontFamily, fontSize } = getComputedStyle(document.body);
  probe.remove();
  return { isDark: isDark(colours.sunken), colours, font: fontFamily, fontPx: Number.parseFloat(fontSize) };
}

/** Converts `rgb(…)` to a form that every part of the library understands. */
function toHex(colour: string): string {
  const parts = (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map((part) => Math.round(Number(part)));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function isDark(hex: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}
