// The turn shown in the side panel, and its first section. Remembers the element that opened it, so that the focus returns there.

export type InspectorPart = 'turn' | 'pack' | 'artifacts' | 'rules' | 'new-rule';

export interface Inspected {
  readonly sessionId: string;
  /** Null where it was opened for what holds in the whole session. */
  readonly turnId: string | null;
  readonly part: InspectorPart;
}

export class Inspector {
  shown = $state.raw<Inspected | null>(null);
  #opener: HTMLElement | null = null;

  /** Opens at a part of a turn; what asked for it gets the focus back. */
  open(what: Inspected, opener: HTMLElement | null): void {
    this.shown = what;
    this.#opener = opener;
  }

  isShowing(turnId: string, part?: InspectorPart): boolean {
    return this.shown?.turnId === turnId && (part === undefined || this.shown.part === part);
  }

  close(): void {
    this.shown = null;
    const opener = this.#opener;
    this.#opener = null;
    // The opener may have left the page meanwhile; then the focus goes to the conversation.
    const target = opener?.isConnected === true ? opener : document.querySelector<HTMLElement>('[role="log"]');
    target?.focus();
  }
}
