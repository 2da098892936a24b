// The offline demo as a model client: streams the decisions of demo-plan.ts. Uses no network and no language model, and says so.

import { AppError } from '../../contracts/errors.ts';
import { noUsage, type DeltaSink, type ModelClient, type ModelReply, type ModelRequest } from '../../contracts/llm.ts';
import { abortReason } from './http-transport.ts';
import { planDemoStep } from './demo-plan.ts';

export const demoModelId = 'offline';

const PIECES_BETWEEN_PAUSES = 8;

export class DemoClient implements ModelClient {
  readonly #nextCallId: () => string;

  constructor(nextCallId: () => string) {
    this.#nextCallId = nextCallId;
  }

  async stream(request: ModelRequest, sink: DeltaSink, signal: AbortSignal): Promise<ModelReply> {
    if (request.modelId !== demoModelId) {
      throw new AppError('model_unknown', `The demo knows one model, "${demoModelId}", not "${request.modelId}".`);
    }
    if (request.output !== undefined) {
      throw new AppError('model_rejected', 'The offline demo has no language model, and it makes up no values.', {
        hint: 'Choose a real model: trayclaw setup, or Settings in the window.',
      });
    }
    const tools = request.tools.map((tool) => tool.name);
    const step = planDemoStep(request.messages, tools);
    await this.#say(step.text, sink, signal);
    const calls = step.call === null ? [] : [{ id: this.#nextCallId(), tool: step.call.tool, args: JSON.stringify(step.call.args) }];
    const finishReason = calls.length === 0 ? 'stop' : 'tool_calls';
    return { text: step.text, reasoning: '', calls, usage: noUsage, usageReported: true, finishReason };
  }

  async #say(text: string, sink: DeltaSink, signal: AbortSignal): Promise<void> {
    let pieces = 0;
    for (const [piece] of text.matchAll(/\s*\S+\s?|\s+$/g)) {
      if (signal.aborted) throw abortReason(signal);
      sink.text(piece);
      pieces += 1;
      if (pieces % PIECES_BETWEEN_PAUSES === 0) await new Promise(setImmediate);
    }
    if (signal.aborted) throw abortReason(signal);
  }
}
