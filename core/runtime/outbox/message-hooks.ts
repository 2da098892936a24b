// Where a message on its way out meets the hooks a person set up. They can keep it here; nothing in here can send.

import type { OutboundItem } from '../../contracts/channels.ts';
import type { HookPoint, HookRan, HookSubject, HookVerdict } from '../../contracts/features/hooks.ts';

export interface MessageHooks {
  has(on: HookPoint): boolean;
  /** Fails with `cancelled` when the signal aborts. */
  before(subject: HookSubject, signal: AbortSignal, record: (ran: HookRan) => void): Promise<HookVerdict>;
  after(subject: HookSubject): void;
}

interface Leaving {
  readonly item: OutboundItem;
  readonly agentId: string;
}

/** Why it must not leave, for the person; null where nothing is against it. The news of a panic stop asks nobody. */
export async function hookMessage(
  hooks: MessageHooks,
  leaving: Leaving,
  signal: AbortSignal,
  record: (ran: HookRan) => void,
): Promise<string | null> {
  if (!hooks.has('before_message') || leaving.item.aboutPanic === true) return null;
  const { decision, reason } = await hooks.before(subjectOf('before_message', leaving), signal, record);
  if (decision === 'pass') return null;
  return decision === 'deny' ? reason : `${reason} Settle it as resend to send it.`;
}

export function tellMessageHooks(hooks: MessageHooks | null, leaving: Leaving, outcome: string): void {
  if (hooks?.has('after_message') === true) hooks.after(subjectOf('after_message', leaving, outcome));
}

function subjectOf(on: HookPoint, { item, agentId }: Leaving, outcome?: string): HookSubject {
  const { sessionId, turnId, to, text } = item;
  const message = { to: to.chatId, text, ...(outcome === undefined ? {} : { outcome }) };
  return { on, sessionId, turnId, agentId, channel: to.channel, message };
}
