// The settings of the browser that the agent uses. Used by config.ts.

import * as z from 'zod';
import { webUrlSchema } from '../web-url.ts';

const origin = z.string().regex(/^https?:\/\/[^/?#@\s]+$/, 'must be an origin such as https://example.org, without a path');

/** Takes the schema of secret references, so that the program knows the passwords. */
export function browserConfigSchema(secretRef: z.ZodType<string, string>) {
  return z
    .strictObject({
      driver: z.enum(['chromium', 'pinchtab']).default('chromium'),
      /** A PinchTab server that is already running, and its token. */
      pinchtab: z.strictObject({ baseUrl: webUrlSchema.default('http://127.0.0.1:9867'), token: secretRef.optional() }).prefault({}),
      /** A browser of the Chromium family; defaults to the first one found. */
      executable: z.string().min(1).max(4096).optional(),
      /** Hosts whose pages may be read without approval. An address of this computer must include its port. */
      allowHosts: z.array(z.string().min(1)).max(500).default([]),
      /** Passwords that may be typed, keyed by the only origin where they may be typed. */
      passwords: z.record(origin, z.array(secretRef).min(1).max(20)).default({}),
      /** False shows the browser's window. */
      headless: z.boolean().default(true),
    })
    .prefault({});
}
