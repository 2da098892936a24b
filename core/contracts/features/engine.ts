// The engine that runs GGUF files, an optional part that a person installs: its state and operations.

import * as z from 'zod';
import { defineOps, none } from '../define-ops.ts';

export const engineSchema = z.object({
  state: z.enum(['unsupported', 'absent', 'installing', 'installed']),
  version: z.string(),
  /** The origin of the download; its size and the disk space it takes follow below. */
  source: z.string(),
  packages: z.number().int(),
  downloadBytes: z.number().int(),
  diskBytes: z.number().int(),
  /** The progress of a running download. */
  doneBytes: z.number().int(),
  folder: z.string(),
});
export type EngineState = z.infer<typeof engineSchema>;

const engineOps = defineOps({
  'engine.get': {
    params: none,
    result: engineSchema,
    about: 'show whether the engine for GGUF files is installed, and what installing it downloads',
    commands: { 'model engine': { example: '' } },
  },
  /** Downloads the pinned packages, verifies each against its SHA-512, and installs them in one step. Runs none of their scripts. */
  'engine.install': { params: none, result: engineSchema, about: 'install the engine for GGUF files; a large download', forPerson: true },
  'engine.remove': {
    params: none,
    result: engineSchema,
    about: 'remove the engine for GGUF files; your model files stay',
    shows: 'No engine is installed any more. Your model files stay.',
    forPerson: true,
    commands: { 'model remove-engine': { confirm: 'Remove the engine?', example: '--yes' } },
  },
});

export const engineContract = {
  ops: engineOps,
  families: { engine: 'Models, settings, secrets' },
} as const;
