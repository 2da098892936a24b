// The parts of the skill contract that the skill store shares: names, findings, markets.

import * as z from 'zod';

/** As defined by the Agent Skills standard. */
export const skillNameSchema = z
  .string()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be small letters, digits and single hyphens')
  .max(64);

/** error: violates the standard. warning: it loads, but a person should check it. note: good to know. */
const lintSeverities = ['error', 'warning', 'note'] as const;

export const skillFindingSchema = z.object({
  /** The stable name of the rule, such as `name-form`. */
  rule: z.string(),
  severity: z.enum(lintSeverities),
  /** The problem and its fix. */
  message: z.string(),
  /** Line of SKILL.md, from 1; null if the finding concerns the whole skill. */
  line: z.number().int().nullable(),
});
export type SkillFinding = z.infer<typeof skillFindingSchema>;

/** Additional markets: an `index.json` (a file or an address), a ClawHub registry, or a site with the well-known index of skills. */
export const skillMarketsSchema = z
  .array(
    z.strictObject({
      name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be small letters, digits and hyphens'),
      url: z.string().min(1).max(2000),
    }),
  )
  .max(20)
  .refine((markets) => new Set(markets.map(({ name }) => name)).size === markets.length, 'two markets have the same name')
  .default([]);
export type SkillMarket = z.infer<typeof skillMarketsSchema>[number];
