// Asks a route outside a turn's conversation, such as for a summary: tries the candidates until one answers. A turn has a separate loop,
// because it records and pays for each attempt.

import { toAppError, AppError } from '../../../contracts/errors.ts';
import type { DeltaSink, ModelReply, ModelRequest } from '../../../contracts/llm.ts';
import { estimateTokens } from '../token-estimate.ts';
import { askBeside, type Routes } from './routes.ts';

type Answered = ModelReply & { readonly firstTokenMs: number | null };

interface Deps {
  readonly routes: Pick<Routes, 'choose' | 'preview' | 'excludedBy'>;
  stream(model: string, sink: DeltaSink, once: boolean): Promise<Answered>;
}

/** Fails as the last candidate did, or with `no_model` if none may be asked. Asks no other candidate once text was delivered. */
export async function streamRoute(
  deps: Deps,
  ref: string,
  request: Omit<ModelRequest, 'modelId'>,
  { sink, signal }: { readonly sink: DeltaSink; readonly signal: AbortSignal },
): Promise<Answered & { readonly model: string }> {
  const { routes } = deps;
  const tokens = sizeOf(request);
  const tried = new Set<string>();
  let hasText = false;
  let failure: AppError | null = null;
  const watched: DeltaSink = {
    text: (delta) => {
      hasText = true;
      sink.text(delta);
    },
    reasoning: (delta) => sink.reasoning?.(delta),
  };
  for (;;) {
    const { chosen, reason } = routes.choose(ref, askBeside(tokens, tried));
    if (chosen === null) throw failure ?? noCandidate(ref, reason);
    const isLast = routes.preview(ref, askBeside(tokens, new Set([...tried, chosen]))).chosen === null;
    try {
      return { ...(await deps.stream(chosen, watched, !isLast)), model: chosen };
    } catch (cause) {
      failure = toAppError(cause);
      const excluded = routes.excludedBy(ref, chosen, failure);
      if (excluded === null || hasText || signal.aborted) throw failure;
      for (const model of excluded.models) tried.add(model);
    }
  }
}

export function noCandidate(ref: string, reason: string): AppError {
  return new AppError('no_model', `${ref} leads to no model now: ${reason}.`, {
    hint: `Change its candidates or conditions in models.routes, or look at them with: trayclaw models route "TEXT" --model ${ref}`,
  });
}

function sizeOf({ system, messages, tail = '' }: Omit<ModelRequest, 'modelId'>): number {
  const said = messages.reduce((sum, message) => sum + estimateTokens(message.text), 0);
  return estimateTokens(system) + said + estimateTokens(tail);
}
