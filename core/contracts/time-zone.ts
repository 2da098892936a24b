// The name of a time zone, as a person gives it: one that this machine knows.

import * as z from 'zod';
import { didYouMean, nearNames } from '../base/near-names.ts';

export const timeZoneSchema = z
  .string()
  .min(1)
  .max(100)
  .refine(isTimeZone, { error: ({ input }) => `is not a time zone that this machine knows (${meant(String(input))})` });

/** The name as this machine writes it: `Europe/Berlin` for `europe/berlin`. Throws for a zone that it does not know. */
export function canonicalZone(zone: string): string {
  return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
}

function isTimeZone(zone: string): boolean {
  try {
    return canonicalZone(zone) !== '';
  } catch {
    return false;
  }
}

function meant(zone: string): string {
  return didYouMean(nearNames(zone, Intl.supportedValuesOf('timeZone')))?.replace(/^D/, 'd') ?? 'one is Europe/Berlin, another UTC';
}
