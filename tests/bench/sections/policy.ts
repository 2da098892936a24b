// One decision of the gate, and the operation that explains a decision.

import { ownName, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import type { PolicyFigures, PolicyJob } from '../workers/policy-worker.ts';
import { runWorker } from '../workers/worker.ts';

const GRANTS = 50;
const RULES = 20;

export async function measurePolicy(context: BenchContext): Promise<Figure[]> {
  context.say(`policy: ${GRANTS} grants, ${RULES} rules`);
  const job: PolicyJob = { grants: GRANTS, rules: RULES, repetitions: context.count(4000) };
  const { decision, explain, commandChars } = await runWorker<PolicyJob, PolicyFigures>('policy-worker.ts', job);
  const about = { section: 'policy', subject: ownName, unit: 'ms' } as const;
  return [
    {
      ...about,
      name: 'one decision',
      p50: decision.p50,
      p99: decision.p99,
      note: `${GRANTS} grants and ${RULES} rules, n ${decision.count}`,
    },
    {
      ...about,
      name: 'policy.explain',
      p50: explain.p50,
      p99: explain.p99,
      note: `a command of ${commandChars} characters, n ${explain.count}`,
    },
  ];
}
