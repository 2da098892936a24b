// On whose behalf a turn runs if that is not the owner: a program with a door token, an agent on another machine, a person in a chat who is
// not paired. This outsider reads the answer, so private data is shown to the turn only within its scopes, or after an approval.

import * as z from 'zod';

/** The private data that a scope of a token opens. A person in a chat has no scopes. */
export const privateParts = ['memory', 'documents', 'sessions', 'files'] as const;
export type PrivatePart = (typeof privateParts)[number];

export const outsiderSchema = z.strictObject({
  /** Unique: the channel, and the token or the sender. */
  id: z.string().min(1),
  /** How marks and approvals name it, such as `openai:editor`. */
  name: z.string().min(1),
  sees: z.array(z.enum(privateParts)),
});
export type Outsider = z.infer<typeof outsiderSchema>;

/** The outsider of a turn that a turn with `parent` starts. It sees no more than either. */
export function narrowOutsider(parent: Outsider | undefined, wanted: Outsider | undefined): { outsider?: Outsider } {
  const outsider = parent ?? wanted;
  if (outsider === undefined) return {};
  return { outsider: { ...outsider, sees: outsider.sees.filter((part) => wanted?.sees.includes(part) !== false) } };
}
