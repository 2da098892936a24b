// Which view is shown, kept in the address so that back, forward and links work.

export const viewNames = ['chat', 'activity', 'approvals', 'artifacts', 'settings', 'health'] as const;
export type ViewName = (typeof viewNames)[number];

export interface Place {
  readonly view: ViewName;
  readonly sessionId: string | null;
  readonly turnId: string | null;
}

export function parsePlace(hash: string): Place {
  const [name = '', sessionId = '', turnId = ''] = hash.replace(/^#\/?/, '').split('/').map(decode);
  const view = viewNames.find((candidate) => candidate === name) ?? 'chat';
  return { view, sessionId: sessionId || null, turnId: turnId || null };
}

export function hrefOf(view: ViewName, sessionId?: string | null, turnId?: string | null): string {
  const parts = [view, sessionId ?? '', turnId ?? ''].map(encodeURIComponent);
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
  place = $state.raw<Place>({ view: 'chat', sessionId: null, turnId: null });

  /** The session one was last in, for the way back to it. */
  lastSessionId = $state<string | null>(null);

  /** Follows the address until the returned function is called. */
  follow(target: Window): () => void {
    const read = (): void => {
      this.place = parsePlace(target.location.hash);
      if (this.place.view === 'chat' || this.place.view === 'activity') this.lastSessionId = this.place.sessionId ?? this.lastSessionId;
    };
    read();
    target.addEventListener('hashchange', read);
    return () => target.removeEventListener('hashchange', read);
  }

  go(view: ViewName, sessionId?: string | null, turnId?: string | null): void {
    location.hash = hrefOf(view, sessionId, turnId);
  }

  /** Changes the address without a step in the history. */
  replace(view: ViewName, sessionId?: string | null): void {
    location.replace(hrefOf(view, sessionId));
  }
}
