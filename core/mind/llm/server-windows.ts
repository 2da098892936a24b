// The context windows that servers state for their models, each requested once per run of the program. Must not delay a turn whose window
// is known.

import { isPlainObject } from '../../base/json.ts';
import { isLoopback, type ServerToAsk } from './model-catalog.ts';
import { askJson } from './single-request.ts';
import { withoutApi } from './wire-dialects.ts';

export class ServerWindows {
  readonly #secrets: { resolve(ref: string): Promise<string> };
  /** By model; a promise while its server is being asked. */
  readonly #windows = new Map<string, number | null | Promise<void>>();

  constructor(secrets: { resolve(ref: string): Promise<string> }) {
    this.#secrets = secrets;
  }

  /** The window that the server stated; null while unknown. */
  of(ref: string): number | null {
    const known = this.#windows.get(ref);
    return typeof known === 'number' ? known : null;
  }

  clear(): void {
    this.#windows.clear();
  }

  /** Null if there is nothing to wait for; never rejects. */
  ask(ref: string, serverOf: () => ServerToAsk | null, signal: AbortSignal): Promise<void> | null {
    const known = this.#windows.get(ref);
    if (known !== undefined) return known instanceof Promise ? known : null;
    const server = serverOf();
    if (server === null) {
      this.#windows.set(ref, null);
      return null;
    }
    const asking = this.#askServer(server, signal).then((window) => {
      // A turn that was stopped meanwhile discarded the answer, so the server is asked again next time.
      if (window === null && signal.aborted) this.#windows.delete(ref);
      else this.#windows.set(ref, window);
    });
    this.#windows.set(ref, asking);
    return asking;
  }

  async #askServer({ keyRef, ...question }: ServerToAsk, signal: AbortSignal): Promise<number | null> {
    try {
      const key = keyRef === undefined ? null : (await this.#secrets.resolve(keyRef)).trim();
      const headers = { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...question.headers };
      return await askWindow({ ...question, headers }, signal);
    } catch {
      // The call itself reports a missing key.
      return null;
    }
  }
}

// Asks a model server for a model's context window, if the server states it. Asks once per model, with short timeouts, and accepts only
// numbers. Must not be on the path of a turn whose window is known.

const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const LOCAL_MS = 2_000;
const REMOTE_MS = 2_500;
const WINDOW_TOKENS_MIN = 512;
const WINDOW_TOKENS_MAX = 20_000_000;

interface WindowQuestion {
  readonly kind: 'ollama' | 'openai-compatible';
  readonly baseUrl: string;
  readonly modelId: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Ask {
  (url: string, body?: object): Promise<unknown>;
}

/** Null if the server does not state it. Never rejects. */
export async function askWindow(question: WindowQuestion, signal: AbortSignal): Promise<number | null> {
  const timeoutMs = isLoopback(question.baseUrl) ? LOCAL_MS : REMOTE_MS;
  const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const ask: Ask = (url, body) => askJson(url, { headers: question.headers, body, bytesMax: ANSWER_BYTES_MAX, signal: ends });
  return question.kind === 'ollama' ? askOllama(question, ask) : askCompatible(question, ask);
}

/** The model's own window, or less if its Modelfile sets a smaller one. */
async function askOllama({ baseUrl, modelId }: WindowQuestion, ask: Ask): Promise<number | null> {
  const shown = await ask(`${withoutApi(baseUrl).replace(/\/+$/, '')}/api/show`, { model: modelId });
  if (!isPlainObject(shown)) return null;
  const set = typeof shown['parameters'] === 'string' ? /^num_ctx\s+(\d+)/m.exec(shown['parameters'])?.[1] : undefined;
  const facts = isPlainObject(shown['model_info']) ? Object.entries(shown['model_info']) : [];
  const own = facts.find(([name]) => name.endsWith('.context_length'))?.[1];
  return smallest([windowIn(Number(set ?? Number.NaN)), windowIn(own)]);
}

/** The loaded window if the server reports it (LM Studio, llama-server), else the one in its list of models (vLLM, gateways). */
async function askCompatible({ baseUrl, modelId }: WindowQuestion, ask: Ask): Promise<number | null> {
  const { origin } = new URL(baseUrl);
  const isHere = isLoopback(baseUrl);
  const [list, studio, props] = await Promise.all([
    ask(`${baseUrl.replace(/\/+$/, '')}/models`),
    isHere ? ask(`${origin}/api/v0/models`) : null,
    isHere ? ask(`${origin}/props`) : null,
  ]);
  const settings = isPlainObject(props) ? props['default_generation_settings'] : undefined;
  const listed = modelIn(list, modelId);
  return (
    windowIn(modelIn(studio, modelId)?.['loaded_context_length']) ??
    windowIn(isPlainObject(settings) ? settings['n_ctx'] : undefined) ??
    smallest(listedFields.map((field) => windowIn(listed?.[field])))
  );
}

/** The fields of vLLM; OpenRouter and Together; Groq; Mistral. */
const listedFields = ['max_model_len', 'context_length', 'context_window', 'max_context_length'];

function modelIn(answer: unknown, modelId: string): Record<string, unknown> | undefined {
  const list: unknown = isPlainObject(answer) ? answer['data'] : undefined;
  const models = Array.isArray(list) ? (list as unknown[]).filter(isPlainObject) : [];
  return models.find(({ id }) => id === modelId);
}

function windowIn(value: unknown): number | null {
  const isWindow = typeof value === 'number' && Number.isInteger(value) && value >= WINDOW_TOKENS_MIN && value <= WINDOW_TOKENS_MAX;
  return isWindow ? value : null;
}

function smallest(windows: readonly (number | null)[]): number | null {
  const known = windows.filter((one) => one !== null);
  return known.length === 0 ? null : Math.min(...known);
}
