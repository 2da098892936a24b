// The plan tool: proposes a plan in a session that requires one, and asks for its next step. The tool itself changes nothing. The gate asks
// a person about each call, and an approval ends the restriction of the turn to reading.

import * as z from 'zod';
import type { AnyDraft } from '../../contracts/events.ts';
import type { CallFacts, ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';

const STEPS_MAX = 20;
const STEP_CHARS_MAX = 300;
/** Shown with the approval request. */
const meaning = 'A yes lets the agent begin. Each of its calls is then judged as usual.';

const step = z.string().trim().min(1).max(STEP_CHARS_MAX);
const planInput = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('propose'),
    steps: z.array(step).min(1).max(STEPS_MAX).describe('What you will do, in order; name the files and commands.'),
  }),
  z.strictObject({
    action: z.literal('next'),
    step: z.number().int().min(1).max(STEPS_MAX).describe('Number of the step, starting at 1.'),
    text: step.describe('The step, word for word as approved.'),
  }),
]);
type PlanArgs = z.infer<typeof planInput>;

export const plan = defineBuiltInFeature({
  name: 'plan',
  create: ({ log }: Pick<Spine, 'log'>) => ({ tools: [createPlan(log)] }),
});

type Log = Pick<SessionLog, 'append' | 'index' | 'reads'>;

function createPlan(log: Log): ToolDefinition {
  return defineTool({
    name: 'plan',
    description: 'Propose a plan before you change anything, or ask to begin the next step of an approved plan. A person decides.',
    input: planInput,
    class: 'read',
    isForPlans: true,
    shows: { verb: 'propose_plan', target: ['text', 'steps'] },
    idempotency: () => 'idempotent',
    timeoutMs: 5_000,
    facts: (args, { sessionId }) => {
      const refused = sessionId === undefined ? null : whyNot(log, sessionId, args);
      const facts: CallFacts = { class: 'read', paths: [], command: null, hosts: [], approvesPlan: true, risks: [meaning] };
      return refused === null ? facts : { ...facts, refused };
    },
    summarize: (args) =>
      args.action === 'propose'
        ? `carry out this plan: ${args.steps.map((one, index) => `${index + 1}. ${one}`).join(' ')}`
        : `begin step ${args.step} of its plan: ${args.text}`,
    run: (args, { sessionId }) => Promise.resolve(approve(log, sessionId, args)),
  });
}

/** Why the call is refused, or null. A step must be part of the approved plan, and no step may be skipped. */
function whyNot(log: Log, sessionId: string, args: PlanArgs): string | null {
  if ((log.index.session(sessionId)?.planFirst ?? null) === null) return 'No plan is asked for in this session.';
  if (args.action === 'propose') return null;
  const approved = lastApproved(log, sessionId);
  if (approved === null) return 'No plan is approved yet. Propose one first.';
  const isNext = args.step <= (approved.step ?? 0) + 1 && approved.steps[args.step - 1] === args.text;
  return isNext ? null : `That is not the next step of the approved plan, which is: ${approved.steps[approved.step ?? 0] ?? 'over'}`;
}

function approve(log: Log, sessionId: string, args: PlanArgs): ToolResult {
  const session = log.index.session(sessionId);
  const bySteps = session?.planFirst === 'steps';
  const steps = args.action === 'propose' ? args.steps : (lastApproved(log, sessionId)?.steps ?? []);
  const at = args.action === 'propose' ? 1 : args.step;
  const isLast = !bySteps || at === steps.length;
  const ended: AnyDraft[] =
    session === null || !isLast
      ? []
      : [{ type: 'session.configured', body: { agentId: session.agentId, model: session.model, by: 'plan', planFirst: 'off' } }];
  log.append(sessionId, [{ type: 'plan.approved', body: { steps: [...steps], step: bySteps ? at : null } }, ...ended], true);
  if (!bySteps) return { forModel: 'The person approved the plan. Carry it out.' };
  const then = isLast ? 'It is the last one.' : `Then ask for step ${at + 1} with the action next.`;
  return { forModel: `The person approved. Carry out step ${at} only: ${steps[at - 1] ?? ''}\n${then}` };
}

function lastApproved(log: Log, sessionId: string): { readonly steps: readonly string[]; readonly step: number | null } | null {
  const [last] = log.reads.slice(sessionId, { types: ['plan.approved'], limit: 1, newest: true });
  return last?.type === 'plan.approved' ? last.body : null;
}
