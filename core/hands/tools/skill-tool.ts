// The skill tool: instructions for kinds of work, and the files that go with them, when they are asked for. It reads; what the
// instructions say to run goes through the other tools and the gate like anything else.

import * as z from 'zod';
import type { CallFacts, TaintSource, ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import { defineTool } from './define-tool.ts';
import { shownPath } from './path-argument.ts';

export interface SkillPlace {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string | null;
}

export interface ShownText {
  readonly text: string;
  /** Whose words these are where they are not the person's own. */
  readonly untrusted: readonly TaintSource[];
}

/** What the tool uses of the skills. All fail with an AppError that says why. */
export interface SkillPort {
  /** Those that fit, best first; all that may be used where there is no query. */
  find(query: string | null): readonly { readonly name: string; readonly description: string }[];
  open(name: string, place: SkillPlace): ShownText;
  read(name: string, file: string, offset: number, place: SkillPlace): ShownText;
}

const LISTED = 50;

const name = z.string().min(1).max(64).describe('Name of the skill.');
const input = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('list'),
    query: z.string().min(1).max(1000).optional().describe('Words of the task; all when left out.'),
  }),
  z.strictObject({ action: z.literal('open'), name }),
  z.strictObject({
    action: z.literal('read'),
    name,
    file: z.string().min(1).max(500).describe('A file of the skill, as its resources list it.'),
    offset: z.number().int().min(0).default(0).describe('First character to show.'),
  }),
]);

const looksOnly: CallFacts = { class: 'read', paths: [], command: null, hosts: [] };

export function createSkillTool(port: SkillPort): ToolDefinition {
  return defineTool({
    name: 'skill',
    description:
      'Instructions for kinds of work. Before a task that one fits, open it and follow it; read its files when it says so. Its scripts are run with exec.',
    input,
    class: 'read',
    idempotency: () => 'pure',
    timeoutMs: 10_000,
    facts: () => looksOnly,
    summarize: (args) => {
      if (args.action === 'list') return 'look for skills';
      return args.action === 'open'
        ? `open the skill ${shownPath(args.name)}`
        : `read ${shownPath(args.file)} of the skill ${shownPath(args.name)}`;
    },
    run(args, context) {
      if (args.action === 'list') {
        const found = port.find(args.query ?? null).slice(0, LISTED);
        const lines = found.map((skill) => `${skill.name}: ${skill.description.replaceAll(/\s+/g, ' ').slice(0, 300)}`);
        return Promise.resolve({ forModel: lines.length === 0 ? 'No skill fits.' : lines.join('\n') });
      }
      const place = placeOf(context);
      const shown = args.action === 'open' ? port.open(args.name, place) : port.read(args.name, args.file, args.offset, place);
      return Promise.resolve({ forModel: shown.text, untrusted: shown.untrusted });
    },
  });
}

function placeOf({ sessionId, turnId, callId }: ToolContext): SkillPlace {
  return { sessionId, turnId, callId };
}
