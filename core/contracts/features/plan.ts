// Plan first: a session whose turns may only read until a person has approved a plan, or each of its steps. The event of an approval. The
// mode itself is in session.configured, and the gate enforces it.

import * as z from 'zod';

const planEvents = {
  /** A person approved the plan, or with `step` this step of it, numbered from 1. */
  'plan.approved': z.object({ steps: z.array(z.string()), step: z.number().int().nullable() }),
} as const;

export const planContract = { events: planEvents, ops: {}, families: {}, help: {} } as const;
