// The routes of the door that speaks Ollama's API. Agents and models have the same names as at the OpenAI door. Loaded with the first
// request.

import * as z from 'zod';
import type { DoorReply, DoorRequest } from '../../contracts/door-route.ts';
import { AppError } from '../../contracts/errors.ts';
import type { Asked } from './asked.ts';
import { passPrefix, unknownModel, type Completions, type OpenAiDeps, type Visit } from './completions.ts';
import { embeddingsModel, embeddingsScope, vectorsOf } from './embeddings.ts';
import { managingPaths, type AnsweringPath } from './paths.ts';
import { ollamaWriter, sendLoaded, sendOllamaError } from './ollama-replies.ts';
import { modelIn, readOllamaChat, readOllamaGenerate } from './read-ollama.ts';
import { readBody } from './read-parts.ts';
import { assertMethod } from './vendor-error.ts';

interface Route {
  readonly method: 'GET' | 'POST';
  readonly answer: (visit: Visit) => Promise<void> | void;
}

/** The API version that this door reports. Clients refuse older ones. */
const API_VERSION = '0.13.0';
const details = { parent_model: '', format: '', family: 'trayclaw', families: ['trayclaw'], parameter_size: '', quantization_level: '' };
/** A fixed date: clients expect a date, a size and a digest for each model. */
const modifiedAt = '2026-01-01T00:00:00Z';

const showSchema = z.looseObject({ model: z.string().min(1).max(400).optional(), name: z.string().min(1).max(400).optional() });
const embedOneSchema = z.looseObject({ model: z.string().min(1).max(400), prompt: z.string().min(1).max(1_000_000) });
const embedSchema = z.looseObject({
  model: z.string().min(1).max(400),
  input: z.union([z.string().min(1).max(1_000_000), z.array(z.string().min(1).max(1_000_000)).min(1).max(2_048)]),
  dimensions: z.number().int().min(1).nullish(),
});

export class OllamaDoor {
  readonly #deps: OpenAiDeps;
  readonly #completions: Completions;
  readonly #routes: Readonly<Record<AnsweringPath, Route>>;

  constructor(deps: OpenAiDeps, completions: Completions) {
    this.#deps = deps;
    this.#completions = completions;
    this.#routes = {
      '/api/version': { method: 'GET', answer: ({ reply }) => reply.send(200, { version: API_VERSION }) },
      '/api/tags': { method: 'GET', answer: (visit) => this.#tags(visit) },
      // Always empty: only the model servers know which models are loaded.
      '/api/ps': { method: 'GET', answer: ({ reply }) => reply.send(200, { models: [] }) },
      '/api/show': { method: 'POST', answer: (visit) => this.#show(visit) },
      '/api/chat': { method: 'POST', answer: (visit) => this.#answer(visit, 'chat', readOllamaChat) },
      '/api/generate': { method: 'POST', answer: (visit) => this.#answer(visit, 'generate', readOllamaGenerate) },
      '/api/embed': { method: 'POST', answer: (visit) => this.#embed(visit) },
      '/api/embeddings': { method: 'POST', answer: (visit) => this.#embedOne(visit) },
    };
  }

  async answer(request: DoorRequest, reply: DoorReply): Promise<void> {
    try {
      const { tokens, config } = this.#deps;
      const caller = tokens.admit(request, 'ollama', config.doors.ollama.enabled);
      if (managingPaths.has(request.path))
        throw new AppError('invalid_params', 'Models are not managed here: they are set up in config.yaml.');
      const routes: Readonly<Record<string, Route | undefined>> = this.#routes;
      const route = routes[request.path];
      if (route === undefined) throw new AppError('not_found', `There is nothing at ${request.path}.`);
      assertMethod(request.method, route.method);
      await route.answer({ request, reply, caller });
    } catch (cause) {
      sendOllamaError(reply, this.#completions.outward(cause));
    }
  }

  async #tags(visit: Visit): Promise<void> {
    visit.reply.send(200, { models: (await this.#completions.modelIds(visit)).map(listed) });
  }

  async #show({ request, reply, caller }: Visit): Promise<void> {
    const { model, name } = readBody(showSchema, await request.json());
    const id = modelIn(model ?? name ?? '');
    if (!(await this.#completions.modelIds({ request, caller })).includes(id)) throw unknownModel(id);
    const { models } = this.#deps;
    const ref = id.startsWith(passPrefix) ? id.slice(passPrefix.length) : models.defaultRef();
    const contextLength = ref === null ? 0 : models.info(ref).contextTokens;
    const able = id === embeddingsModel ? ['embedding'] : id.startsWith(passPrefix) ? ['completion', 'tools'] : ['completion'];
    reply.send(200, {
      modelfile: '',
      parameters: '',
      template: '',
      details,
      model_info: { 'general.architecture': 'trayclaw', 'trayclaw.context_length': contextLength },
      capabilities: able,
      modified_at: modifiedAt,
    });
  }

  async #answer(visit: Visit, kind: 'chat' | 'generate', read: (body: unknown) => Asked): Promise<void> {
    const asked = read(await visit.request.json());
    const { clock } = this.#deps;
    if (asked.said.length > 0) {
      await this.#completions.complete(visit, asked, ollamaWriter(kind, clock), sendOllamaError);
      return;
    }
    if (!(await this.#completions.modelIds(visit)).includes(asked.model)) throw unknownModel(asked.model);
    sendLoaded(visit.reply, kind, asked.model, clock.nowMs());
  }

  async #embed({ request, reply, caller }: Visit): Promise<void> {
    const { model, input, dimensions } = readBody(embedSchema, await request.json());
    const texts = typeof input === 'string' ? [input] : input;
    const vectors = await this.#vectors({ request, caller }, model, texts, dimensions ?? null);
    const tokens = texts.reduce((sum, one) => sum + this.#deps.asking.count(one), 0);
    reply.send(200, {
      model,
      embeddings: vectors.map((vector) => [...vector]),
      total_duration: 0,
      load_duration: 0,
      prompt_eval_count: tokens,
    });
  }

  /** The form of earlier clients: one text, one vector. */
  async #embedOne({ request, reply, caller }: Visit): Promise<void> {
    const { model, prompt } = readBody(embedOneSchema, await request.json());
    const [vector] = await this.#vectors({ request, caller }, model, [prompt], null);
    reply.send(200, { embedding: [...(vector ?? [])] });
  }

  async #vectors(
    { request, caller }: Pick<Visit, 'request' | 'caller'>,
    model: string,
    texts: readonly string[],
    dimensions: number | null,
  ): ReturnType<typeof vectorsOf> {
    if (!caller.may('embeddings')) throw unknownModel(model, embeddingsScope);
    const signal = AbortSignal.any([request.gone, caller.revoked]);
    return await vectorsOf(this.#deps.embeddings(), { model: modelIn(model), texts, isBase64: false, dimensions }, signal);
  }
}

function listed(id: string): object {
  return { name: id, model: id, modified_at: modifiedAt, size: 0, digest: '', details };
}
