// The channel names that the window and the desktop shell share, and the object the preload script leaves in the page. Free of
// dependencies, because the preload script is bundled from it.

import type { AnyEvent, DeltaNotice } from './events.ts';
import type { OpReply } from './ops.ts';
import type { ViewName } from './views.ts';

/** Name of the bridge on the page's global object. */
export const bridgeName = 'trayclaw';

/** Page to shell, each answered once. */
export const askChannels = {
  op: 'trayclaw:op',
  follow: 'trayclaw:follow',
  unfollow: 'trayclaw:unfollow',
  ready: 'trayclaw:ready',
  loginStart: 'trayclaw:login-start',
  openLink: 'trayclaw:open-link',
} as const;
/** Shell to page. */
export const tellChannels = { notice: 'trayclaw:notice', command: 'trayclaw:command' } as const;

/** Notices of a followed stream. `closed` is the last: the runtime is ending. */
export type StreamNotice =
  | { readonly kind: 'event'; readonly event: AnyEvent }
  | { readonly kind: 'delta'; readonly delta: DeltaNotice }
  | { readonly kind: 'open' }
  | { readonly kind: 'closed' };

/** A notice for the window, with its stream. */
export interface StreamMessage {
  readonly followId: number;
  readonly notice: StreamNotice;
}

/** Messages from the shell to the window: a view to open, or that everything is being stopped. */
export type ShellCommand =
  | { readonly kind: 'show'; readonly view: ViewName }
  | { readonly kind: 'show-session'; readonly sessionId: string }
  | { readonly kind: 'show-approval'; readonly approvalId: string }
  /** A link that wants an MCP server added: its query, as it was written. Shown in a form, and nothing else. */
  | { readonly kind: 'show-server'; readonly query: string }
  /** The panic stop was engaged outside the window: shown at once, before it is recorded. */
  | { readonly kind: 'stopping' };

/** Facts about the shell that the window receives when it is ready and after each change. */
export interface ShellFacts {
  readonly platform: string;
  /** The keys of the panic stop as a person reads them, or null where they could not be had. */
  readonly panicKeys: string | null;
  /** Why there are none although some were configured. */
  readonly panicKeysProblem: string | null;
  /** Null if starting at login cannot be set here. */
  readonly startsAtLogin: boolean | null;
}

/** The whole surface of the preload script. Values only; no Electron object ever passes. */
export interface DesktopBridge {
  op(name: string, params: unknown): Promise<OpReply>;
  follow(after: number | 'latest', onNotice: (notice: StreamNotice) => void): () => void;
  onCommand(listener: (command: ShellCommand) => void): () => void;
  /** Says that the window listens; commands given before are delivered now. */
  ready(): Promise<ShellFacts>;
  /** Resolves to what holds then. */
  setLoginStart(isOn: boolean): Promise<ShellFacts>;
  /** Opens a web page or a letter outside, only while the person's own click is fresh. False where it was not opened. */
  openLink(url: string): Promise<boolean>;
}
