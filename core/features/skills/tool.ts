// The skill tool: returns instructions for kinds of work, and their files, on request. It only reads; whatever the instructions say to run
// goes through the other tools and the gate.

import * as z from 'zod';
import type { CallFacts, ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import { defineTool, shownPath } from '../../hands/tools/tools.ts';
import type { SkillReader } from './skill-reader.ts';
import type { SkillRuns } from './skill-runs.ts';

/** All methods fail with an AppError that says why. */
export interface SkillParts {
  /** Matching skills, best first; all usable skills without a query. */
  readonly find: (query: string | null) => readonly { readonly name: string; readonly description: string }[];
  readonly reader: Pick<SkillReader, 'open' | 'read'>;
  readonly runs: Pick<SkillRuns, 'run'>;
}

const LISTED = 50;

const name = z.string().min(1).max(64).describe('Name of the skill.');
const input = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('list'),
    query: z.string().min(1).max(1000).optional().describe('Words of the task. Default: all skills.'),
  }),
  z.strictObject({ action: z.literal('open'), name }),
  z.strictObject({
    action: z.literal('read'),
    name,
    file: z.string().min(1).max(500).describe('A file of the skill, as listed in its resources.'),
    offset: z.number().int().min(0).default(0).describe('First character to return.'),
  }),
  z.strictObject({
    action: z.literal('run'),
    name,
    input: z.record(z.string(), z.unknown()).default({}).describe('Arguments of its steps, as shown when it is opened.'),
  }),
]);

const looksOnly: CallFacts = { class: 'read', paths: [], command: null, hosts: [] };

/** `runMs` limits the time of the steps of a composed skill. */
export function createSkillTool({ find, reader, runs }: SkillParts, runMs: number): ToolDefinition {
  return defineTool({
    name: 'skill',
    description:
      'Instructions for particular kinds of work. Before a task that a skill fits, open the skill and follow it; read its files when it says so. Run its scripts with exec.',
    input,
    class: 'read',
    shows: { verb: 'use_skills', target: ['name', 'query'] },
    // A repeated run finds the same subagent by the id of the call.
    idempotency: () => 'pure',
    timeoutMs: runMs,
    facts: () => looksOnly,
    summarize: (args) => {
      if (args.action === 'list') return 'look for skills';
      if (args.action === 'run') return `run the steps of the skill ${shownPath(args.name)}`;
      return args.action === 'open'
        ? `open the skill ${shownPath(args.name)}`
        : `read ${shownPath(args.file)} of the skill ${shownPath(args.name)}`;
    },
    async run(args, context) {
      if (args.action === 'run') {
        const { text, untrusted, isError } = await runs.run(args.name, args.input, {
          ...placeOf(context),
          callId: context.idempotencyKey,
          signal: context.signal,
        });
        return { forModel: text, untrusted, isError };
      }
      if (args.action === 'list') {
        const found = find(args.query ?? null).slice(0, LISTED);
        const lines = found.map((skill) => `${skill.name}: ${skill.description.replaceAll(/\s+/g, ' ').slice(0, 300)}`);
        return { forModel: lines.length === 0 ? 'No skill fits.' : lines.join('\n') };
      }
      const place = placeOf(context);
      const shown = args.action === 'open' ? reader.open(args.name, place) : reader.read(args.name, args.file, args.offset, place);
      return { forModel: shown.text, untrusted: shown.untrusted };
    },
  });
}

function placeOf({ sessionId, turnId, callId }: ToolContext): Pick<ToolContext, 'sessionId' | 'turnId' | 'callId'> {
  return { sessionId, turnId, callId };
}
