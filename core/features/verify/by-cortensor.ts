// Uses a Cortensor router as a verifier: /validate in its three versions, or a fact check. A valid verdict counts only if most of its nodes
// share it.

import type { VerifyConfig, VerifySubject } from '../../contracts/features/verify.ts';
import type { CortensorRouter, CortensorVerdict } from '../../mind/llm/llm.ts';
import type { AskVerifier, SourceAnswer } from './verifier.ts';

/** The documentation names no smaller redundancy for a fact check. */
const FACTCHECK_RUNS_MIN = 3;

export function verifyByCortensor(router: Pick<CortensorRouter, 'judge'>, settings: VerifyConfig): AskVerifier {
  const { api, replicas, timeoutMs } = settings;
  return async (subject, _place, signal) => {
    const judged = await router.judge({ api, body: bodyFor(api, subject, replicas), timeoutMs }, signal);
    return agreed(judged, api === 'v3' ? replicas : api === 'factcheck' ? Math.max(replicas, FACTCHECK_RUNS_MIN) : 1);
  };
}

function bodyFor(api: VerifyConfig['api'], subject: VerifySubject, replicas: number): Record<string, unknown> {
  const { request, tool, args, summary } = subject;
  const claim = `Running ${tool} with ${args} (${summary}) does what the person asked for, and no more. The person asked: ${request}`;
  if (api === 'v1')
    return {
      task_request_input: request,
      task_result_output: JSON.stringify({ tool, args, summary }),
      task_domain: 'agent-tool-call',
      task_type: subject.class,
      evaluation_mode: 'strict',
    };
  if (api === 'factcheck') return { claim, mode: 'standard', redundancy: Math.max(replicas, FACTCHECK_RUNS_MIN) };
  const body = { claim, policy: { tier: 'safe' }, context: { ...subject }, metadata: { client: 'trayclaw' } };
  if (api === 'v2') return body;
  return { ...body, consensus: { replicas, strategy: 'majority', disagreement_policy: 'return_all' } };
}

/** If several nodes were asked for, more than half of them must share a valid verdict. */
function agreed({ verdict, reason, votes }: CortensorVerdict, asked: number): SourceAnswer {
  if (asked === 1) return { verdict, reason };
  const shared = votes.filter((vote) => vote === verdict).length;
  if (shared * 2 > asked) return { verdict, reason };
  if (verdict !== 'VALID') return { verdict, reason };
  return { verdict: 'NEEDS_SPEC', reason: `only ${shared} of ${asked} nodes found it valid. ${reason}`.trim() };
}
