// The items of responses that were given out, so that a program may name one by its id instead of sending it back. In memory only and bounded:
// nothing of what is passed through is written anywhere.

import type { DoorCaller } from '../../contracts/door-route.ts';
import type { ReplyCall } from '../../contracts/llm.ts';

/** A piece of an answer of the model: text of a message, or a call of a tool. */
export type GivenItem = { readonly id: string } & ({ readonly text: string } | { readonly call: ReplyCall });

const CHARS_MAX = 8_000_000;

export class GivenItems {
  readonly #items = new Map<string, GivenItem>();
  #chars = 0;

  /** The oldest are forgotten beyond the limit. */
  keep(owner: DoorCaller, items: readonly GivenItem[]): void {
    for (const item of items) {
      this.#items.set(keyOf(owner, item.id), item);
      this.#chars += sizeOf(item);
    }
    for (const [key, item] of this.#items) {
      if (this.#chars <= CHARS_MAX) break;
      this.#items.delete(key);
      this.#chars -= sizeOf(item);
    }
  }

  /** Only what the same token was given. */
  find(owner: DoorCaller, id: string): GivenItem | null {
    return this.#items.get(keyOf(owner, id)) ?? null;
  }
}

function keyOf({ token }: DoorCaller, id: string): string {
  return `${token.tokenId} ${id}`;
}

/** With what it takes to keep it at all. */
function sizeOf(item: GivenItem): number {
  return 200 + ('text' in item ? item.text.length : item.call.args.length);
}
