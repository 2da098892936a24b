// Which view is shown, kept in the address so that back, forward and links work.

import { viewNames, type ViewName } from '../../../core/contracts/views.ts';

export interface Place {
  readonly view: ViewName;
  readonly sessionId: string | null;
  readonly turnId: string | null;
  /** In chat and activity: the sequence number of the event to go to, for example from a search hit. */
  readonly atSeq: number | null;
}

export function parsePlace(hash: string): Place {
  const [name = '', sessionId = '', item = '', at = ''] = hash.replace(/^#\/?/, '').split('/').map(decode);
  const view = viewNames.find((candidate) => candidate === name) ?? 'chat';
  const seq = view === 'chat' ? item : view === 'activity' ? at : '';
  const atSeq = /^\d{1,15}$/.test(seq) ? Number(seq) : null;
  return { view, sessionId: sessionId || null, turnId: view === 'chat' ? null : item || null, atSeq };
}

/** `item` is a turn, or in the chat the sequence number of an event; `at` is that of an event in the turn. */
export function hrefOf(view: ViewName, sessionId?: string | null, item?: string | number | null, at?: number | null): string {
  const parts = [view, sessionId ?? '', item ?? '', at ?? ''].map(encodeURIComponent);
  return '#/' + parts.join('/').replace(/\/+$/, '');
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

export class Route {
  place = $state.raw<Place>({ view: 'chat', sessionId: null, turnId: null, atSeq: null });

  /** The last session shown, for returning to it. */
  lastSessionId = $state<string | null>(null);

  /** The address as it was last read. */
  #hash = '';
  readonly #location: () => Pick<Location, 'hash' | 'replace'>;

  constructor(where: () => Pick<Location, 'hash' | 'replace'> = () => location) {
    this.#location = where;
  }

  /** Follows the address until the returned function is called. */
  follow(target: Window): () => void {
    this.#read(target.location.hash);
    // `go` has already read it, and reading it again would close a field opened since then.
    const read = (): void => {
      if (target.location.hash !== this.#hash) this.#read(target.location.hash);
    };
    target.addEventListener('hashchange', read);
    return () => target.removeEventListener('hashchange', read);
  }

  go(view: ViewName, sessionId?: string | null, turnId?: string | null): void {
    this.#location().hash = hrefOf(view, sessionId, turnId);
    this.#catchUp();
  }

  /**
   * Changes the address without a history entry. If the address has changed since it was read, follows it instead: a person or a link has
   * navigated meanwhile.
   */
  replace(view: ViewName, sessionId?: string | null): void {
    if (this.#location().hash === this.#hash) this.#location().replace(hrefOf(view, sessionId));
    this.#catchUp();
  }

  /** The browser reports a new address with a delay. Until then the old view could navigate, or receive typed text. */
  #catchUp(): void {
    this.#read(this.#location().hash);
  }

  #read(hash: string): void {
    this.#hash = hash;
    this.place = parsePlace(hash);
    if (this.place.view === 'chat' || this.place.view === 'activity') this.lastSessionId = this.place.sessionId ?? this.lastSessionId;
  }
}
