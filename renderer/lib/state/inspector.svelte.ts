// The panels next to or over a conversation: what each shows, and the element that opened it, so that the focus returns there.

import { tick } from 'svelte';

export type InspectorPart = 'turn' | 'pack' | 'artifacts' | 'rules' | 'new-rule';

export interface Inspected {
  readonly sessionId: string;
  /** Null if it was opened for the whole session. */
  readonly turnId: string | null;
  readonly part: InspectorPart;
}

/** File changes under review. */
export interface Reviewed {
  readonly sessionId: string;
  /** Null for the whole session. */
  readonly turnId: string | null;
  /** Set if it was opened to restore to before this turn, so that everything since then is shown. */
  readonly isRewind?: true;
}

export const sideTabs = ['artifacts', 'files', 'tasks', 'commands', 'browser'] as const;
export type SideTab = (typeof sideTabs)[number];

/** The files, tasks and commands of a session, next to its conversation. */
export interface Sided {
  readonly sessionId: string;
  readonly tab: SideTab;
  /** A file to show at once, by its resolved path. */
  readonly path?: string;
}

class Panel<Shown> {
  shown = $state.raw<Shown | null>(null);
  #opener: HTMLElement | null = null;

  /** `opener` gets the focus back when the panel closes. */
  open(what: Shown, opener: HTMLElement | null): void {
    this.shown = what;
    this.#opener = opener;
  }

  close(): void {
    this.shown = null;
    const opener = this.#opener;
    this.#opener = null;
    // The opener may have left the page meanwhile; then the conversation gets the focus.
    const target = opener?.isConnected === true ? opener : document.querySelector<HTMLElement>('[role="log"]');
    // The page behind a panel can take the focus only once the panel is removed.
    void tick().then(() => target?.focus());
  }
}

export class Side extends Panel<Sided> {}

export class Review extends Panel<Reviewed> {}

export class Inspector extends Panel<Inspected> {
  isShowing(turnId: string, part?: InspectorPart): boolean {
    return this.shown?.turnId === turnId && (part === undefined || this.shown.part === part);
  }
}
