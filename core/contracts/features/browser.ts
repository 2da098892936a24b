// The browser that the agent uses: its settings. Used by config.ts.

import * as z from 'zod';
import { webUrlSchema } from '../web-url.ts';

const origin = z.string().regex(/^https?:\/\/[^/?#@\s]+$/, 'must be an origin such as https://example.org, without a path');

/** With the schema of references, so that the program knows the passwords. */
export function browserConfigSchema(secretRef: z.ZodType<string, string>) {
  return z
    .strictObject({
      driver: z.enum(['chromium', 'pinchtab']).default('chromium'),
      /** A PinchTab server that runs already, and its token. */
      pinchtab: z.strictObject({ baseUrl: webUrlSchema.default('http://127.0.0.1:9867'), token: secretRef.optional() }).prefault({}),
      /** A browser of the Chromium family; the first that is found if absent. */
      executable: z.string().min(1).max(4096).optional(),
      /** Hosts whose pages may be read without asking; an address of this computer only with its port. */
      allowHosts: z.array(z.string().min(1)).max(500).default([]),
      /** Passwords that may be typed, by the only origin they may be typed into. */
      passwords: z.record(origin, z.array(secretRef).min(1).max(20)).default({}),
      /** False shows its window. */
      headless: z.boolean().default(true),
    })
    .prefault({});
}
