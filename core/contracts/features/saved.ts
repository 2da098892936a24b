// Prompts that a person saved to use again: the events and the operations.

import * as z from 'zod';
import { defineOps, none } from '../define-ops.ts';

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be small letters, digits and dashes, such as weekly-report');
const text = z.string().trim().min(1).max(20_000);

const savedEvents = {
  'saved.written': z.object({ name: z.string(), text: z.string(), by: z.string() }),
  'saved.removed': z.object({ name: z.string(), by: z.string() }),
} as const;

export const savedPromptSchema = z.object({ name: z.string(), text: z.string(), savedAtMs: z.number().int() });
export type SavedPrompt = z.infer<typeof savedPromptSchema>;

const savedOps = defineOps({
  'saved.list': {
    params: none,
    result: z.object({ prompts: z.array(savedPromptSchema) }),
    about: 'list the saved prompts, by name',
    shows: { each: 'prompts', columns: { PROMPT: 'name', TEXT: 'text' }, none: 'No prompts are saved.' },
    commands: { 'saved list': { example: '' } },
  },
  /** Saves a prompt, or replaces the prompt with that name. */
  'saved.put': {
    params: z.strictObject({ name, text }),
    result: savedPromptSchema,
    about: 'save a prompt to use again with /prompt NAME',
    shows: 'Saved {name}.',
    forPerson: true,
    commands: { 'saved add': { takes: ['name', 'text...'], example: "weekly-report 'Sum up what changed this week.'" } },
  },
  'saved.remove': {
    params: z.strictObject({ name }),
    result: savedPromptSchema,
    about: 'remove a saved prompt',
    shows: 'Removed {name}.',
    forPerson: true,
    commands: { 'saved remove': { takes: ['name'], example: 'weekly-report' } },
  },
});

export const savedPromptContract = {
  events: savedEvents,
  ops: savedOps,
  families: { saved: 'Messages and turns' },
  help: { saved: ['Talk', 'prompts you saved, used with /prompt NAME'] },
} as const;
