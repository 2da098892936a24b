// The data that travels with a task between two TrayClaws: the machines it passed through, its budget and its agent, and on the way back
// its cost. An extension of the protocol that other agents ignore. Pure.

import * as z from 'zod';
import { carriedBudgetSchema } from '../../contracts/features/a2a.ts';
import { usageSchema } from '../../contracts/llm.ts';

/**
 * Names the extension on agent cards and its values in metadata. An agent with this extension returns the existing task for a known message
 * id.
 */
export const extensionUri = 'urn:trayclaw:a2a:carried:1';

const HOPS_MAX = 32;

const workSchema = z.object({
  hops: z.array(z.string().min(1).max(100)).max(HOPS_MAX).default([]),
  budget: carriedBudgetSchema.default({ usd: null, tokens: null, ms: null, depth: null }),
  agent: z.string().min(1).max(100).nullable().default(null),
});
export type CarriedWork = z.infer<typeof workSchema>;

const endSchema = z.object({ costUsd: z.number().nonnegative().nullable(), usage: usageSchema });
export type CarriedEnd = z.infer<typeof endSchema>;

type Metadata = Readonly<Record<string, unknown>> | undefined;

/** Null if the metadata is malformed. Missing metadata gives the defaults of the schema. */
export function readWork(metadata: Metadata): CarriedWork | null {
  const given = metadata?.[extensionUri];
  const read = workSchema.safeParse(given ?? {});
  return read.success ? read.data : null;
}

export function readEnd(metadata: Metadata): CarriedEnd | null {
  const read = endSchema.safeParse(metadata?.[extensionUri]);
  return read.success ? read.data : null;
}

export function carry(value: CarriedWork | CarriedEnd): Record<string, unknown> {
  return { [extensionUri]: value };
}
