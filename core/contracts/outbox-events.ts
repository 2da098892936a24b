// Events of outbound messages: queued for a chat, each try, and the outcome. Also the session of a chat. A part with `outbound.sending` and
// no outcome may have arrived.

import * as z from 'zod';
import { chatAddressSchema, chatKindSchema, outboundItemSchema } from './channels.ts';

const outboundId = z.string();
const part = z.number().int().min(0);

export const outboxEvents = {
  /** In the system session. The session of the chat's next message; null for a new session. */
  'chat.bound': z.object({
    chat: chatAddressSchema,
    kind: chatKindSchema,
    title: z.string(),
    sessionId: z.string().nullable(),
    by: z.string(),
  }),
  'outbound.queued': outboundItemSchema,
  /** Stored durably before the part is sent. `repeatable` means that the service drops a second copy. */
  'outbound.sending': z.object({
    outboundId,
    part,
    parts: z.number().int().min(1),
    attempt: z.number().int().min(1),
    repeatable: z.boolean(),
  }),
  'outbound.part_sent': z.object({ outboundId, part, messageId: z.string() }),
  'outbound.sent': z.object({ outboundId }),
  /** A part was certainly not delivered. It is retried at that time, or never. */
  'outbound.failed': z.object({ outboundId, part, error: z.string(), retryAtMs: z.number().int().nullable() }),
  /** It is unknown whether the part arrived. It is not resent until a person decides. */
  'outbound.uncertain': z.object({ outboundId, part, reason: z.string() }),
  'outbound.settled': z.object({ outboundId, answer: z.enum(['sent', 'resend', 'drop']), by: z.string() }),
} as const;
