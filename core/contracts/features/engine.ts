// The engine that runs GGUF files: an optional part that a person installs. The operations.

import * as z from 'zod';
import { none } from '../op-params.ts';

export const engineSchema = z.object({
  state: z.enum(['unsupported', 'absent', 'installing', 'installed']),
  version: z.string(),
  /** Where it is downloaded from, and how much; what it takes on the disk. */
  source: z.string(),
  packages: z.number().int(),
  downloadBytes: z.number().int(),
  diskBytes: z.number().int(),
  /** Of a download that runs. */
  doneBytes: z.number().int(),
  folder: z.string(),
});
export type EngineState = z.infer<typeof engineSchema>;

export const engineOps = {
  'engine.get': { params: none, result: engineSchema },
  /** Downloads the pinned packages, checks each against its SHA-512, and puts them in place in one step. Runs no script of theirs. */
  'engine.install': { params: none, result: engineSchema },
  'engine.remove': { params: none, result: engineSchema },
} as const;
