// The code that the OpenAI and Ollama doors share: the models a token may use, answers of agents, and requests passed through to models.
// The two modes never mix: `trayclaw/AGENT` is an agent with our tools, and `passthrough/PROVIDER/MODEL` is a model with the client's
// tools. Knows no wire format.

import type { Claw } from '../../contracts/claw.ts';
import {
  outwardError,
  type DoorAdmission,
  type DoorAgents,
  type DoorCaller,
  type DoorReply,
  type DoorRequest,
} from '../../contracts/door-route.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ModelRouter } from '../../mind/llm/llm.ts';
import type { Spine } from '../feature.ts';
import { answerAsAgent } from './agent-turn.ts';
import type { Answer, Asked, AnswerWriter } from './asked.ts';
import type { ReplyHead } from './chat-replies.ts';
import { Conversations } from './conversations.ts';
import { embeddingsModel, type EmbeddingPort } from './embeddings.ts';
import { passThrough, type PassDeps } from './passthrough.ts';
import { refuse } from './read-parts.ts';

export interface OpenAiDeps extends Pick<Spine, 'config' | 'log' | 'logger' | 'ids' | 'clock' | 'turns' | 'artifacts' | 'later'>, PassDeps {
  readonly claw: Claw;
  readonly tokens: DoorAdmission;
  readonly agents: DoorAgents;
  readonly models: PassDeps['models'] & Pick<ModelRouter, 'list' | 'lookAtServers' | 'ready' | 'info' | 'defaultRef'>;
  readonly embeddings: () => EmbeddingPort | null;
}

/** One authorized request. */
export interface Visit {
  readonly request: DoorRequest;
  readonly reply: DoorReply;
  readonly caller: DoorCaller;
}

/** Sends an error in the form of one API. `begun` is true if a turn has already begun. */
export type SendError = (reply: DoorReply, error: AppError, begun: boolean) => void;

const ALIVE_MS = 10_000;
export const passPrefix = 'passthrough/';
const agentPrefix = 'trayclaw/';

export class Completions {
  readonly #deps: OpenAiDeps;
  readonly #conversations: Conversations;

  constructor(deps: OpenAiDeps) {
    this.#deps = deps;
    this.#conversations = new Conversations(deps.log);
  }

  /** The ids of the models that the scopes of the token include. The servers of providers are asked first, as for every list of models. */
  async modelIds({ request, caller }: Pick<Visit, 'request' | 'caller'>): Promise<string[]> {
    const { agents, models, embeddings } = this.#deps;
    await models.lookAtServers(request.gone);
    const ids = [
      'trayclaw',
      ...agents.list().map(({ agentId }) => agentPrefix + agentId),
      ...models.list().models.map(({ ref }) => passPrefix + ref),
    ].filter((id) => caller.may(id));
    return caller.may('embeddings') && embeddings() !== null ? [...ids, embeddingsModel] : ids;
  }

  /** Throws only before the work has begun. Later errors are sent as part of the reply. */
  async complete(visit: Visit, asked: Asked, writerOf: (head: ReplyHead) => AnswerWriter, sendError: SendError): Promise<void> {
    const { request, reply, caller } = visit;
    if (asked.said.length === 0) throw refuse('messages', 'There is no message to answer.');
    if (!caller.may(asked.model)) throw unknownModel(asked.model);
    let turnId: string | null = null;
    const requestId = this.#deps.ids.next('req');
    const created = Math.floor(this.#deps.clock.nowMs() / 1000);
    const writer = writerOf({ reply, asked, created, id: () => turnId ?? requestId });
    const signal = AbortSignal.any([request.gone, caller.revoked]);
    const alive = asked.stream ? setInterval(() => (reply.isUnsent ? undefined : writer.alive('keep-alive')), ALIVE_MS) : null;
    try {
      writer.finish(await this.#answerOf(visit, asked, { writer, signal, begun: (id) => (turnId = id) }));
    } catch (cause) {
      const error = caller.revoked.aborted ? new AppError('unauthorized', 'This API key was revoked.') : this.outward(cause);
      sendError(reply, error, turnId !== null);
    } finally {
      if (alive !== null) clearInterval(alive);
    }
  }

  async #answerOf(
    { request, caller }: Visit,
    asked: Asked,
    run: { readonly writer: AnswerWriter; readonly signal: AbortSignal; begun(turnId: string): void },
  ): Promise<Answer> {
    const { agents, config, models } = this.#deps;
    const { model } = asked;
    if (model.startsWith(passPrefix)) return passThrough(this.#deps, { caller, asked, ref: model.slice(passPrefix.length), ...run });
    const agentId = model === 'trayclaw' ? agents.route({ channel: caller.token.door, chatId: null }) : model.slice(agentPrefix.length);
    if (model !== 'trayclaw' && !(model.startsWith(agentPrefix) && agents.has(agentId))) throw unknownModel(model);
    // Waits only during the first start, while models are being discovered.
    await models.ready();
    const deps = { ...this.#deps, conversations: this.#conversations, approvalMs: config.doors.openai.approvalSeconds * 1000 };
    return answerAsAgent(deps, { caller, asked, agentId, named: request.header('x-trayclaw-session'), ...run });
  }

  outward(cause: unknown): AppError {
    return outwardError(cause, (told) => this.#deps.logger.log('error', 'a request of a program failed unexpectedly', { cause: told }));
  }
}

export function unknownModel(id: string, hint = 'The list of models has those that this API key may use.'): AppError {
  return new AppError('model_unknown', `There is no model ${JSON.stringify(id.slice(0, 100))}.`, { data: { param: 'model' }, hint });
}
