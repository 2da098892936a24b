// The section `web` of config.yaml: how the agent's own requests reach the web.

import * as z from 'zod';
import { secretRefSchema } from './secret-ref.ts';
import { webUrlSchema } from './web-url.ts';

const searchSchema = z.discriminatedUnion('provider', [
  z.strictObject({ provider: z.literal('brave'), apiKey: secretRefSchema, baseUrl: webUrlSchema.optional() }),
  z.strictObject({ provider: z.literal('duckduckgo'), baseUrl: webUrlSchema.optional() }),
  z.strictObject({ provider: z.literal('searxng'), baseUrl: webUrlSchema }),
  z.strictObject({ provider: z.literal('tavily'), apiKey: secretRefSchema, baseUrl: webUrlSchema.optional() }),
]);

export const webConfigSchema = z
  .strictObject({
    timeoutMs: z.number().int().min(1000).max(600_000).default(30_000),
    bytesMax: z.number().int().min(1024).max(100_000_000).default(5_000_000),
    search: searchSchema.optional(),
    /** Pages are fetched through the proxy that the environment names, which then finds their addresses itself. */
    useProxy: z.boolean().default(false),
  })
  .prefault({});
