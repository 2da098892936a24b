// Runs the hooks a person set up on outbound messages. They can hold a message back; nothing here can send one.

import type { OutboundItem } from '../../contracts/channels.ts';
import type { HookPoint, HookPort, HookRan, HookSubject } from '../../contracts/features/hooks.ts';

interface Leaving {
  readonly item: OutboundItem;
  readonly agentId: string;
}

/**
 * Returns the reason, for the person, why the message must not be sent; null if no hook objects. A notice about the panic stop skips the
 * hooks.
 */
export async function hookMessage(
  hooks: HookPort,
  leaving: Leaving,
  signal: AbortSignal,
  record: (ran: HookRan) => void,
): Promise<string | null> {
  if (!hooks.has('before_message') || leaving.item.aboutPanic === true) return null;
  const { decision, reason } = await hooks.before(subjectOf('before_message', leaving), signal, record);
  if (decision === 'pass') return null;
  return decision === 'deny' ? reason : `${reason} Settle it as resend to send it.`;
}

export function tellMessageHooks(hooks: HookPort | null, leaving: Leaving, outcome: string): void {
  if (hooks?.has('after_message') === true) hooks.after(subjectOf('after_message', leaving, outcome));
}

function subjectOf(on: HookPoint, { item, agentId }: Leaving, outcome?: string): HookSubject {
  const { sessionId, turnId, to, text } = item;
  const message = { to: to.chatId, text, ...(outcome === undefined ? {} : { outcome }) };
  return { on, sessionId, turnId, agentId, channel: to.channel, message };
}
