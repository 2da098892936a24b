// The span of one graded eval case, with one evaluation result per check. Pure.

import type { EventOf } from '../../contracts/events.ts';
import { evaluation, langfuse, names, own } from './conventions.ts';
import type { Attributes, TraceOptions, TurnTrace } from './turn-spans.ts';

export function traceOfCase({ atMs, sessionId, body }: EventOf<'eval.case_finished'>, { content, redact }: TraceOptions): TurnTrace {
  const { runId, model, result } = body;
  const key = `${runId}/${result.caseId}/${result.repeat}`;
  const met = result.checks.filter(({ pass }) => pass).length;
  const said = (text: string): Attributes => (content ? { [evaluation.explanation]: redact(text) } : {});
  const whole: Attributes = {
    [evaluation.name]: redact(result.name),
    [evaluation.label]: result.verdict,
    // If the case ended in an error, nothing is known about the answer.
    [evaluation.score]: result.verdict === 'error' ? null : result.checks.length === 0 ? 1 : met / result.checks.length,
    ...said(result.error ?? ''),
  };
  const results = result.checks.map(({ type, pass, score, reason }): Attributes => ({
    [evaluation.name]: type,
    [evaluation.label]: pass ? 'pass' : 'fail',
    [evaluation.score]: score ?? (pass ? 1 : 0),
    ...said(reason),
  }));
  const span = {
    key,
    parent: null,
    name: 'evaluate case',
    kind: 'internal',
    startMs: atMs - result.tookMs,
    endMs: atMs,
    attributes: {
      [names.conversation]: sessionId,
      [names.requestModel]: model,
      [own.evalRun]: runId,
      [own.evalCase]: result.caseId,
      [own.costUsd]: result.costUsd,
      [langfuse.kind]: 'evaluator',
      [langfuse.session]: sessionId,
      [langfuse.trace]: `eval ${runId}`,
      ...whole,
    },
    events: [whole, ...results].map((attributes) => ({ name: evaluation.event, atMs, attributes })),
    error: result.error ?? null,
  } as const;
  return { rootTurnId: key, turnId: key, sessionId, spans: [span] };
}
