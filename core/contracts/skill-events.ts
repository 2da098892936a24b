// The events of skills. A part of the table in events.ts.

import * as z from 'zod';
import { skillTrustTargetSchema } from './skills.ts';

export const skillEvents = {
  /** Cards of these were put before the model for a message, best first. In the session of the message. */
  'skill.selected': z.object({
    agentId: z.string(),
    skills: z.array(z.object({ name: z.string(), version: z.string().nullable(), score: z.number() })),
    /** Of these the beginning of the instructions was put in as well: named by the person (`$name`), or by far the best. */
    excerpts: z.array(z.string()),
  }),
  /** The instructions of a skill, or a file of it, were given to the model. */
  'skill.expanded': z.object({
    name: z.string(),
    version: z.string().nullable(),
    sha256: z.string(),
    /** A file of the skill; null for its instructions. */
    file: z.string().nullable(),
    /** 1 for one that no other skill led to. */
    depth: z.number().int(),
    /** The skill whose instructions led to it. */
    from: z.string().nullable(),
    trusted: z.boolean(),
    callId: z.string().nullable(),
  }),
  /** In the system session. A person trusts a skill or a folder, or no longer. */
  'skill.trusted': z.object({ name: z.string().nullable(), target: skillTrustTargetSchema, trusted: z.boolean(), by: z.string() }),
  /** In the system session. */
  'skill.configured': z.object({ name: z.string(), enabled: z.boolean(), by: z.string() }),
  /** In the system session: what came from where, and what it was made into. */
  'skill.imported': z.object({ name: z.string(), from: z.string(), path: z.string(), sha256: z.string(), by: z.string() }),
  /** In the system session: its folder went out of the workspace. `callId` names the checkpoint that puts it back. */
  'skill.removed': z.object({ name: z.string(), path: z.string(), sha256: z.string(), callId: z.string(), by: z.string() }),
} as const;
