// Passes one call to the verifier and maps the verdict to an outcome. Fails closed, or asks a person if config.yaml says so; never allows a
// call.

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { EventBodies } from '../../contracts/events.ts';
import type { Verdict, VerifyConfig, VerifyOutcome, VerifySubject } from '../../contracts/features/verify.ts';
import type { Usage } from '../../contracts/llm.ts';
import type { ToolClass } from '../../contracts/tools.ts';
import type { VerifyPort } from '../../runtime/turns/turns.ts';

type About = Parameters<VerifyPort['verify']>[0];
type Verified = Omit<EventBodies['call.verified'], 'callId' | 'ruleId'>;

/** The answer of a source of verdicts. `refused` means that it was not asked or gave no usable answer. */
export type SourceAnswer = ({ readonly verdict: Verdict; readonly reason: string } | { readonly refused: string }) & {
  readonly usage?: Usage;
  readonly costUsd?: number | null;
};

/** Fails with an AppError if there is no answer. */
export type AskVerifier = (subject: VerifySubject, place: About['place'], signal: AbortSignal) => Promise<SourceAnswer>;

/** The outcome of each verdict. Without a verdict, `verify.whenUnavailable` decides. */
const outcomes: Readonly<Record<Verdict, VerifyOutcome>> = { VALID: 'pass', INVALID: 'deny', RETRY: 'deny', NEEDS_SPEC: 'ask' };

const REASON_CHARS_MAX = 1_000;

export interface VerifierDeps {
  readonly settings: VerifyConfig;
  readonly ask: AskVerifier;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
  readonly redactDeep: <T>(value: T) => T;
}

export class Verifier implements VerifyPort {
  readonly #deps: VerifierDeps;

  constructor(deps: VerifierDeps) {
    this.#deps = deps;
  }

  covers(toolClass: ToolClass): boolean {
    return this.#deps.settings.classes.includes(toolClass);
  }

  async verify(about: About, signal: AbortSignal): Promise<Verified> {
    const { settings, clock, redactDeep } = this.#deps;
    const startedMs = clock.monotonicMs();
    const answer = redactDeep(await this.#ask(about, signal));
    const { by, whenUnavailable } = settings;
    const tookMs = Math.round(clock.monotonicMs() - startedMs);
    const spent = answer.usage === undefined ? {} : { usage: answer.usage, costUsd: answer.costUsd ?? null };
    const made = { by, tookMs, ...spent };
    if ('refused' in answer)
      return {
        ...made,
        verdict: 'UNAVAILABLE',
        outcome: whenUnavailable,
        reason: `It could not be verified by ${by}: ${shorten(answer.refused)}.`,
      };
    const { verdict } = answer;
    return { ...made, verdict, outcome: outcomes[verdict], reason: reasonFor(verdict, by, shorten(answer.reason)) };
  }

  async #ask(about: About, signal: AbortSignal): Promise<SourceAnswer> {
    const { ask, logger, redactDeep } = this.#deps;
    try {
      return await ask(redactDeep(subjectOf(about)), about.place, signal);
    } catch (cause) {
      if (signal.aborted) throw new AppError('cancelled', 'The turn was stopped.');
      const { message, code } = toAppError(cause);
      logger.log(code === 'internal' ? 'error' : 'warn', 'a call could not be verified', { callId: about.request.callId, reason: message });
      return { refused: message.replace(/\.$/, '') };
    }
  }
}

function subjectOf({ request, decision, said }: About): VerifySubject {
  const { tool, args, summary, facts, taint } = request;
  return {
    tool,
    class: facts.class,
    args,
    summary,
    decision: decision.decision,
    reason: decision.reason,
    request: said,
    untrusted: taint.derived.map(({ kind, where }) => `${kind}: ${where}`),
  };
}

function reasonFor(verdict: Verdict, by: string, reason: string): string {
  const why = reason === '' ? 'it gave no reason.' : reason;
  const sentences: Readonly<Record<Verdict, string>> = {
    VALID: `${by} found the call valid: ${why}`,
    INVALID: `${by} found the call invalid: ${why}`,
    RETRY: `${by} wants the call done differently: ${why} Correct it and propose it again.`,
    NEEDS_SPEC: `${by} cannot judge the call without more detail: ${why}`,
  };
  return sentences[verdict];
}

function shorten(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > REASON_CHARS_MAX ? `${trimmed.slice(0, REASON_CHARS_MAX)}…` : trimmed;
}
