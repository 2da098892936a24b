// Turns a session into eval cases: its messages as inputs, and the calls that were made as assertions. The draft is for a person to
// correct.

import { stringify } from 'yaml';
import { noSession } from '../../contracts/errors.ts';
import { jsonIn } from '../../base/json.ts';
import type { SessionLog } from '../../store/session/session.ts';

const CASES_MAX = 200;
const ANSWER_CHARS_MAX = 500;

interface Draft {
  input: string;
  calls: { name: string; args: unknown }[];
  answer: string;
}

/** Fails with not_found. */
export function draftCases(log: Pick<SessionLog, 'reads' | 'index'>, sessionId: string): { yaml: string; cases: number } {
  if (log.index.session(sessionId) === null) throw noSession(sessionId);
  const drafts = new Map<string, Draft>();
  for (const event of log.reads.iterateSession(sessionId)) {
    if (event.turnId === null) continue;
    if (event.type === 'user.message' && drafts.size < CASES_MAX)
      drafts.set(event.turnId, { input: event.body.text, calls: [], answer: '' });
    const draft = drafts.get(event.turnId);
    if (draft === undefined) continue;
    if (event.type === 'tool.requested') {
      draft.calls.push({ name: event.body.tool, args: jsonIn(event.body.args) ?? {} });
    }
    if (event.type === 'turn.finished') draft.answer = event.body.text;
  }
  const tests = [...drafts.values()].map(({ input, calls, answer }) => ({
    input,
    assert: [
      ...calls.map((value) => ({ type: 'tool', value })),
      { type: 'llm-rubric', value: `The answer is right. The answer then was: ${answer.slice(0, ANSWER_CHARS_MAX)}` },
    ],
  }));
  const head = `# Cases from the session ${sessionId}. Correct what each must do: what happened then is not what should happen.\n`;
  return { yaml: head + stringify({ tests }), cases: tests.length };
}
