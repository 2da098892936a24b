// The channel names that the window and the desktop shell share, and the object that the preload script adds to the page. Free of
// dependencies, because the preload script is bundled from it.

import type { AnyEvent, DeltaNotice } from './events.ts';
import type { OpReply } from './ops.ts';
import type { ViewName } from './views.ts';

/** The name of the bridge on the page's global object. */
export const bridgeName = 'trayclaw';

/** From the page to the shell; each message is answered once. */
export const askChannels = {
  op: 'trayclaw:op',
  follow: 'trayclaw:follow',
  unfollow: 'trayclaw:unfollow',
  ready: 'trayclaw:ready',
  loginStart: 'trayclaw:login-start',
  openLink: 'trayclaw:open-link',
} as const;
/** From the shell to the page. */
export const tellChannels = { notice: 'trayclaw:notice', command: 'trayclaw:command' } as const;

/** Notices of a followed stream. `closed` is the last one: the runtime is ending. */
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
  /** A link that asks to add an MCP server: its query, as written. It is only shown in a form. */
  | { readonly kind: 'show-server'; readonly query: string }
  /** The panic stop was engaged outside the window. Shown at once, before it is recorded. */
  | { readonly kind: 'stopping' };

/** Facts about the shell that the window receives when it is ready and after each change. */
export interface ShellFacts {
  readonly platform: string;
  /** The keys of the panic stop as a person reads them; null if they could not be registered. */
  readonly panicKeys: string | null;
  /** Why no keys are registered although some were configured. */
  readonly panicKeysProblem: string | null;
  /** Null if starting at login cannot be configured here. */
  readonly startsAtLogin: boolean | null;
}

/** The complete interface of the preload script. Only plain values pass, never an Electron object. */
export interface DesktopBridge {
  op(name: string, params: unknown): Promise<OpReply>;
  follow(after: number | 'latest', onNotice: (notice: StreamNotice) => void): () => void;
  onCommand(listener: (command: ShellCommand) => void): () => void;
  /** Reports that the window listens. Commands that were sent before are delivered now. */
  ready(): Promise<ShellFacts>;
  /** Resolves to the facts after the change. */
  setLoginStart(isOn: boolean): Promise<ShellFacts>;
  /** Opens a web page or a mail link outside the window, only shortly after a click of the person. False if it was not opened. */
  openLink(url: string): Promise<boolean>;
}
