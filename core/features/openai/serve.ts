// The routes and errors of the door that speaks OpenAI's API. Loaded with the first request.

import { decodeComponent } from '../../base/decode-component.ts';
import type { DoorReply, DoorRequest } from '../../contracts/door-route.ts';
import { AppError } from '../../contracts/errors.ts';
import type { AnswerWriter, Asked } from './asked.ts';
import { chatWriter, type ReplyHead } from './chat-replies.ts';
import { passPrefix, unknownModel, type Completions, type OpenAiDeps, type SendError, type Visit } from './completions.ts';
import { embeddingsOf, embeddingsScope, readEmbeddings } from './embeddings.ts';
import { GivenItems } from './given-items.ts';
import type { OpenAiPath } from './paths.ts';
import { readChat } from './read-chat.ts';
import { readResponses } from './read-responses.ts';
import { responseWriter, type ResponseWriter } from './response-replies.ts';
import { assertMethod, turnError, vendorError } from './vendor-error.ts';

type Answering = (door: OpenAiDoor, visit: Visit) => Promise<void>;

/** A fixed date in seconds, because clients expect one for each model. */
const CREATED = 1_767_225_600;

export class OpenAiDoor {
  readonly #deps: OpenAiDeps;
  readonly #completions: Completions;
  readonly #given = new GivenItems();

  constructor(deps: OpenAiDeps, completions: Completions) {
    this.#deps = deps;
    this.#completions = completions;
  }

  async answer(request: DoorRequest, reply: DoorReply): Promise<void> {
    try {
      const { tokens, config } = this.#deps;
      const caller = tokens.admit(request, 'openai', config.doors.openai.enabled);
      await this.#routeOf(request)(this, { request, reply, caller });
    } catch (cause) {
      sendError(reply, this.#completions.outward(cause), false);
    }
  }

  #routeOf({ method, path }: DoorRequest): Answering {
    const modelId = path.startsWith('/v1/models/') ? path.slice('/v1/models/'.length) : null;
    if (path === '/v1/models' || modelId !== null) {
      assertMethod(method, 'GET');
      return modelId === null ? (door, visit) => door.#listModels(visit) : (door, visit) => door.#showModel(visit, modelId);
    }
    const posts: Readonly<Record<Exclude<OpenAiPath, '/v1/models'>, Answering>> = {
      '/v1/chat/completions': (door, visit) => door.#complete(visit, readChat, chatWriter),
      '/v1/responses': (door, visit) => door.#respond(visit),
      '/v1/embeddings': (door, visit) => door.#embed(visit),
    };
    const found = Object.entries(posts).find(([known]) => known === path)?.[1];
    if (found === undefined) throw new AppError('not_found', `There is nothing at ${method} ${path}.`);
    assertMethod(method, 'POST');
    return found;
  }

  async #listModels(visit: Visit): Promise<void> {
    visit.reply.send(200, { object: 'list', data: (await this.#completions.modelIds(visit)).map(modelOf) });
  }

  async #showModel(visit: Visit, encoded: string): Promise<void> {
    const id = decodeComponent(encoded);
    if (!(await this.#completions.modelIds(visit)).includes(id)) throw unknownModel(id);
    visit.reply.send(200, modelOf(id));
  }

  async #complete(
    visit: Visit,
    read: (body: unknown) => Asked,
    writerOf: (head: ReplyHead) => AnswerWriter,
    send: SendError = sendError,
  ): Promise<void> {
    await this.#completions.complete(visit, read(await visit.request.json()), writerOf, send);
  }

  #respond(visit: Visit): Promise<void> {
    const { caller } = visit;
    let writer: ResponseWriter | null = null;
    return this.#complete(
      visit,
      (body) => readResponses(body, (id) => this.#given.find(caller, id)),
      (head) => (writer = responseWriter(head, (items) => (head.asked.isForgotten === true ? undefined : this.#given.keep(caller, items)))),
      (reply, error, begun) => {
        if (reply.isUnsent || writer?.fail === undefined) sendError(reply, error, begun);
        else writer.fail(vendorError(error).body.error);
      },
    );
  }

  async #embed({ request, reply, caller }: Visit): Promise<void> {
    const asked = readEmbeddings(await request.json());
    if (!caller.may('embeddings')) throw unknownModel(asked.model, embeddingsScope);
    const signal = AbortSignal.any([request.gone, caller.revoked]);
    reply.send(200, await embeddingsOf(this.#deps.embeddings(), asked, { count: this.#deps.asking.count, signal }));
  }
}

/** Once a stream has begun, the error is sent as its last event, which client libraries throw. */
function sendError(reply: DoorReply, error: AppError, begun: boolean): void {
  const { status, body, headers } = begun ? turnError(error) : vendorError(error);
  if (reply.isUnsent) {
    reply.send(status, body, headers);
    return;
  }
  reply.write(`data: ${JSON.stringify(body)}\n\n`);
  reply.end();
}

function modelOf(id: string): object {
  return { id, object: 'model', created: CREATED, owned_by: id.startsWith(passPrefix) ? (id.split('/')[1] ?? 'trayclaw') : 'trayclaw' };
}
