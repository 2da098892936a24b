// Finds every secret reference in the settings. The schema marks the fields that take one, so no manual list is needed.

import * as z from 'zod';
import { configSchema, secretRefSchema, type Config } from '../../contracts/config.ts';

/** Distinct, in the order of the schema. */
export function secretRefsOf(config: Partial<Config>): string[] {
  const found = new Set<string>();
  collect(configSchema, config, (ref) => found.add(ref));
  return [...found];
}

function collect(schema: z.core.$ZodType, value: unknown, take: (ref: string) => void): void {
  if (value === undefined || value === null) return;
  if (isReference(schema)) {
    if (typeof value === 'string') take(value);
    return;
  }
  for (const [part, below] of partsOf(schema, value)) collect(part, below, take);
}

/** A title or a description creates a copy, which shares its definition with the original. */
function isReference(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodType && schema.def === secretRefSchema.def;
}

type Part = readonly [schema: z.core.$ZodType, value: unknown];

function partsOf(schema: z.core.$ZodType, value: unknown): Part[] {
  if (schema instanceof z.ZodObject) return Object.entries(schema.shape).map(([key, part]) => [part, Object(value)[key]] as Part);
  if (schema instanceof z.ZodRecord) return Object.values(Object(value) as object).map((below) => [schema.valueType, below]);
  if (schema instanceof z.ZodArray) return Array.isArray(value) ? value.map((below: unknown) => [schema.element, below]) : [];
  // Only the options that match the value.
  if (schema instanceof z.ZodUnion) return schema.options.filter((form) => z.safeParse(form, value).success).map((form) => [form, value]);
  if (schema instanceof z.ZodPipe) return [[schema.in, value]];
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return isWrapped ? [[schema.unwrap(), value]] : [];
}
