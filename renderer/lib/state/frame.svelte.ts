// The open parts of the frame around the views: the session list, the title being edited, the command palette or the key sheet. Lost with
// the tab.

const recentMax = 8;

export interface FrameOptions {
  /** The desktop app's own window, or a browser page, where the browser reserves some keys. */
  readonly place: 'app' | 'browser';
  readonly isMac: boolean;
}

export class Frame {
  readonly place: 'app' | 'browser';
  readonly isMac: boolean;
  listShown = $state(true);
  /** On a narrow window one pane is shown at a time, and opening one hides the other. */
  isNarrow = $state(false);
  /** The title in the header is being edited. */
  isRenaming = $state(false);
  /** The find bar of the conversation is open. */
  isFinding = $state(false);
  /** The field of the find bar that takes the focus when it opens. */
  findField: 'find' | 'find-date' = 'find';
  overlay = $state<'palette' | 'keys' | 'folder' | 'prompts' | 'next' | null>(null);
  /** The ids of used commands, the most recent first. */
  recent = $state.raw<readonly string[]>([]);

  constructor({ place, isMac }: FrameOptions) {
    this.place = place;
    this.isMac = isMac;
  }

  toggle(overlay: 'palette' | 'keys'): void {
    this.overlay = this.overlay === overlay ? null : overlay;
  }

  used(commandId: string): void {
    this.recent = [commandId, ...this.recent.filter((id) => id !== commandId)].slice(0, recentMax);
  }
}
