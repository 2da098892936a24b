// The tool `delegate`, which gives a bounded task to a Cortensor router of config.yaml. The tool does not exist if no router is configured.

import * as z from 'zod';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { CortensorRouter } from '../../mind/llm/llm.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'secrets'>;

export const delegate = defineBuiltInFeature({
  name: 'delegate',
  create: ({ config, clock, secrets }: Taken, _rows: null) => {
    const routers = Object.entries(config.providers).flatMap(([name, provider]) =>
      provider.kind === 'cortensor' && provider.sessionId !== undefined
        ? [[name, { router: new CortensorRouter(name, provider, { secrets, clock }), timeoutMs: provider.timeoutMs }] as const]
        : [],
    );
    return { tools: routers.length === 0 ? [] : [createDelegate(new Map(routers))] };
  },
});

interface Delegated {
  readonly router: Pick<CortensorRouter, 'host' | 'sessionId' | 'hasPayment' | 'payment' | 'result'>;
  readonly timeoutMs: number;
}

const SHOWN_CHARS_MAX = 60;
const STEPS_MAX = 20;
/** Longer than a provider's timeout may be set, because miners take minutes. */
const TIMEOUT_MS = 660_000;

/**
 * The tool `delegate`: one POST to a Cortensor router, then polling until the result is ready. A router that wants payment is paid only
 * in a call of class spend, which asks. The same call without `pay` explains the price.
 */
function createDelegate(routers: ReadonlyMap<string, Delegated>): ToolDefinition {
  const [first = ''] = routers.keys();
  const routerOf = (name: string | undefined): Delegated => {
    const found = routers.get(name ?? first);
    if (found !== undefined) return found;
    throw new AppError('invalid_arguments', `There is no Cortensor router "${name}".`, {
      hint: `There are: ${[...routers.keys()].join(', ')}.`,
    });
  };
  return defineTool({
    name: 'delegate',
    description:
      'Give a bounded task to a network of other models and get its result. What you send leaves this machine. Include everything the task ' +
      'needs; they see nothing else. If the router asks for a payment, the result says how much; call again with pay: true to ask the person.',
    input: z.strictObject({
      objective: z.string().trim().min(1).max(20_000).describe('What to do, and what the result should look like.'),
      input: z.string().max(100_000).default('').describe('The material to work on.'),
      provider: z.string().optional().describe('The router. Default: the first one.'),
      version: z.enum(['v1', 'v2', 'v3']).default('v2'),
      steps: z.number().int().min(1).max(STEPS_MAX).default(5),
      pay: z.boolean().default(false).describe('Pay for it, once a person has approved that.'),
    }),
    class: 'network',
    shows: { verb: 'send', target: ['objective'] },
    timeoutMs: TIMEOUT_MS,
    idempotency: () => 'unsafe',
    facts: ({ provider, pay }) => {
      const { host, hasPayment } = routerOf(provider).router;
      if (pay && !hasPayment)
        throw new AppError('invalid_arguments', 'There is no proof of payment for this router.', {
          hint: 'Put a reference into the provider: payment.',
        });
      const risks = pay ? [`It pays ${host} with the proof of payment in config.yaml.`] : [];
      return { class: pay ? 'spend' : 'network', paths: [], command: null, hosts: [host], risks };
    },
    summarize: ({ objective, pay }) => `${pay ? 'pay for and ' : ''}delegate: ${objective.slice(0, SHOWN_CHARS_MAX)}`,
    async run(args, { signal }) {
      const { router, timeoutMs } = routerOf(args.provider);
      const payment = args.pay ? await router.payment() : null;
      const path = `/api/${args.version}/delegate`;
      const request = { method: 'POST' as const, path, body: bodyOf(args, router.sessionId), timeoutMs };
      const answer = await router.result({ ...request, ...(payment === null ? {} : { payment }) }, signal);
      return { forModel: JSON.stringify(answer), untrusted: [{ kind: 'web' as const, where: router.host }] };
    },
  });
}

interface Args {
  readonly objective: string;
  readonly input: string;
  readonly version: 'v1' | 'v2' | 'v3';
  readonly steps: number;
}

function bodyOf({ objective, input, version, steps }: Args, sessionId: number | null): Record<string, unknown> {
  if (version === 'v1')
    return { session_id: sessionId, task_request_input: `${objective}\n\n${input}`.trim(), task_domain: 'general', task_type: 'task' };
  const body = { session_id: sessionId, objective, input, execution: { max_steps: steps }, policy: { tier: 'safe', tools: [] } };
  return version === 'v2' ? body : { ...body, consensus: { replicas: 3, strategy: 'majority', disagreement_policy: 'return_all' } };
}
