// A double of the engine (node-llama-cpp) for scripted GGUF files, loaded by the real child process. Unknown options and methods, a wrong
// call order and a full context window are errors; tokens take time; it can crash or hang like native code. For tests only.

import { setTimeout as wait } from 'node:timers/promises';
import { Grammar, GrammarMatch } from './gbnf.ts';
import { readModel, type GgufModel } from './gguf-file.ts';
import type { EngineKnobs } from './knobs.ts';
import { inside, onlyKeys, strict, wholeNumber } from './strict.ts';
import { Vocabulary } from './vocabulary.ts';

const createOptions = [
  'bindings',
  'bindingPath',
  'extBackendsPath',
  'buildType',
  'buildMetadata',
  'logLevel',
  'logger',
  'vramPadding',
].concat(['ramPadding', 'maxThreads', 'skipLlamaInit', 'debug', 'numa', 'tempDir', 'experimentalOptions']);
const loadOptions = ['modelPath', 'gpuLayers', 'vocabOnly', 'useMmap', 'useDirectIo', 'useMlock', 'checkTensors', 'lazyMode'].concat([
  'onLoadProgress',
  'loadSignal',
  'ignoreMemorySafetyChecks',
  'metadataOverrides',
  'defaultContextFlashAttention',
  'defaultContextSwaFullCache',
]);
const contextOptions = ['sequences', 'contextSize', 'batchSize', 'flashAttention', 'threads', 'batching', 'swaFullCache', 'createSignal'];
const evaluateOptions = ['temperature', 'minP', 'topK', 'topP', 'seed', 'xtc', 'grammarEvaluationState', 'repeatPenalty'].concat([
  'dryRepeatPenalty',
  'tokenBias',
  'evaluationPriority',
  'contextShift',
  'yieldEogToken',
]);
/** A hanging process that no test has killed by then exits. */
const HANG_MS = 60_000;

/** The class that the package exports as Llama. */
export function engineDouble(knobs: EngineKnobs) {
  return {
    _create(options: unknown): Promise<Llama> {
      const { bindings, buildMetadata, maxThreads } = onlyKeys('Llama._create', options, createOptions);
      if ((bindings as { isAddonDouble?: boolean } | undefined)?.isAddonDouble !== true) throw new Error('the native library is missing');
      if (typeof buildMetadata !== 'object') throw new Error('the build metadata is missing');
      wholeNumber('maxThreads', maxThreads, 0);
      return Promise.resolve(strict('Llama', new Llama(knobs)));
    },
  };
}

class Llama {
  readonly #knobs: EngineKnobs;

  constructor(knobs: EngineKnobs) {
    this.#knobs = knobs;
  }

  async loadModel(options: unknown): Promise<Model> {
    const { modelPath } = onlyKeys('loadModel', options, loadOptions);
    await wait(1);
    const { atLoad } = this.#knobs;
    if (atLoad === 'refuse') throw new Error('Failed to load model');
    if (atLoad === 'hang') hang();
    const file = readModel(String(modelPath));
    const broken = new Set(file.tokens).size < file.tokens.length;
    if (broken || atLoad === 'abort') crash('GGML_ASSERT(vocab.id_to_token.size() == vocab.token_to_id.size()) failed');
    return strict('the model', new Model(file, this.#knobs));
  }

  createGrammar(options: unknown): Promise<Grammar> {
    const { grammar } = onlyKeys('createGrammar', options, ['grammar', 'stopGenerationTriggers', 'trimWhitespaceSuffix', 'rootRuleName']);
    if (this.#knobs.refusesGrammars === true) throw new Error('Failed to parse grammar');
    return Promise.resolve(new Grammar(String(grammar)));
  }
}

export class GrammarState {
  readonly match: GrammarMatch;

  constructor(options: unknown) {
    const { model, grammar } = onlyKeys('LlamaGrammarEvaluationState', options, ['model', 'grammar']);
    if (!(inside(model) instanceof Model) || !(grammar instanceof Grammar)) throw new Error('a grammar state needs a model and a grammar');
    this.match = new GrammarMatch(grammar);
  }
}

class Model {
  readonly trainContextSize: number;
  readonly tokens = strict('tokens', { bosString: '<s>', eosString: '</s>' });
  readonly fileInfo: object;
  readonly vocabulary: Vocabulary;
  readonly #file: GgufModel;
  readonly #knobs: EngineKnobs;

  constructor(file: GgufModel, knobs: EngineKnobs) {
    this.#file = file;
    this.#knobs = knobs;
    this.vocabulary = new Vocabulary(file);
    this.trainContextSize = Number(file.metadata.get('llama.context_length'));
    const template = file.metadata.get('tokenizer.chat_template');
    this.fileInfo = { metadata: { tokenizer: template === undefined || template === '' ? {} : { chat_template: template } } };
  }

  tokenize(text: unknown, special: unknown = false, ...rest: readonly unknown[]): readonly number[] {
    if (typeof text !== 'string' || typeof special !== 'boolean') throw new TypeError('tokenize takes a text and whether marks count');
    if (rest.length > 1 || (rest.length === 1 && rest[0] !== 'trimLeadingSpace')) throw new Error(`Unknown option: ${String(rest[0])}`);
    return this.vocabulary.tokenize(text, special);
  }

  detokenize(tokens: readonly number[], special: unknown = false, last: readonly number[] = []): string {
    if (!Array.isArray(last) || typeof special !== 'boolean') throw new TypeError('detokenize takes tokens');
    return this.vocabulary.text(tokens, special);
  }

  isEogToken(token: number): boolean {
    return this.vocabulary.isEnd(token);
  }

  async createContext(options: unknown): Promise<Context> {
    const { contextSize, sequences = 1, batchSize, threads } = onlyKeys('createContext', options, contextOptions);
    const { max } = onlyKeys('contextSize', contextSize, ['min', 'max']);
    if (wholeNumber('contextSize.max', max, 1) > this.trainContextSize)
      throw new Error('the window is larger than the model was trained for');
    wholeNumber('batchSize', batchSize, 1);
    wholeNumber('threads', threads, 0);
    await wait(1);
    const size = Math.min(Number(max), this.#knobs.contextTokens ?? Infinity);
    return strict(
      'the context',
      new Context({ model: this, file: this.#file, knobs: this.#knobs, size }, wholeNumber('sequences', sequences, 1)),
    );
  }

  async createEmbeddingContext(options: unknown): Promise<EmbeddingContext> {
    onlyKeys('createEmbeddingContext', options, ['contextSize', 'batchSize', 'threads', 'createSignal', 'ignoreMemorySafetyChecks']);
    await wait(1);
    return strict(
      'the embedding context',
      new EmbeddingContext(this.vocabulary, Number(this.#file.metadata.get('llama.embedding_length'))),
    );
  }
}

interface ContextParts {
  readonly model: Model;
  readonly file: GgufModel;
  readonly knobs: EngineKnobs;
  readonly size: number;
}

class Context {
  readonly contextSize: number;
  readonly #parts: ContextParts;
  #left: number;

  constructor(parts: ContextParts, sequences: number) {
    this.#parts = parts;
    this.#left = sequences;
    this.contextSize = parts.size;
  }

  getSequence(): Sequence {
    if (this.#left === 0) throw new Error('No sequences left');
    this.#left -= 1;
    return strict('the sequence', new Sequence(this.#parts));
  }
}

class Sequence {
  readonly #parts: ContextParts;
  #tokens: number[] = [];
  #isBusy = false;
  #isDisposed = false;

  constructor(parts: ContextParts) {
    this.#parts = parts;
  }

  get contextTokens(): readonly number[] {
    return this.#tokens.slice();
  }

  get nextTokenIndex(): number {
    return this.#tokens.length;
  }

  dispose(): void {
    this.#isDisposed = true;
  }

  async eraseContextTokenRanges(ranges: unknown): Promise<void> {
    this.#assertFree();
    if (!Array.isArray(ranges)) throw new TypeError('ranges must be a list');
    for (const range of ranges as unknown[]) {
      const { start, end } = onlyKeys('a range', range, ['start', 'end']);
      if (wholeNumber('end', end, 1) > this.#tokens.length || wholeNumber('start', start, 0) >= Number(end))
        throw new Error('an empty range');
      this.#tokens.splice(Number(start), Number(end) - Number(start));
    }
    await wait(0);
  }

  async evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<void> {
    this.#assertFree();
    this.#read(tokens);
    await wait(0);
  }

  async *evaluate(tokens: readonly number[], options: unknown): AsyncGenerator<number, void> {
    const { grammarEvaluationState, yieldEogToken } = onlyKeys('evaluate', options, evaluateOptions);
    this.#assertFree();
    this.#isBusy = true;
    try {
      const { model, file, knobs } = this.#parts;
      for (let written = 0, read = tokens; ; written++) {
        this.#read(read);
        await wait(knobs.tokenMs ?? 0);
        if (written === knobs.abortAfter) crash('ggml_abort: the double crashes as native code does');
        if (written === knobs.hangAfter) hang();
        const state = typeof grammarEvaluationState === 'function' ? (grammarEvaluationState as () => unknown)() : grammarEvaluationState;
        if (state !== undefined && !(state instanceof GrammarState)) throw new Error('a grammar state of another kind');
        const token = model.vocabulary.next(file.next.get(this.#tokens.at(-1) ?? 0), state?.match ?? null);
        if (model.isEogToken(token) && yieldEogToken !== true) return;
        yield token;
        read = [token];
        if (model.isEogToken(token)) return;
      }
    } finally {
      this.#isBusy = false;
    }
  }

  #read(tokens: readonly number[]): void {
    if (tokens.length === 0) throw new Error('nothing to evaluate');
    for (const token of tokens) if (!this.#parts.model.vocabulary.has(token)) throw new Error(`there is no token ${token}`);
    this.#tokens.push(...tokens);
    // The real engine would drop the beginning of the conversation.
    if (this.#tokens.length > this.#parts.size) throw new Error('the window is full');
  }

  #assertFree(): void {
    if (this.#isDisposed) throw new Error('Object is disposed');
    if (this.#isBusy) throw new Error('the sequence is being evaluated');
  }
}

class EmbeddingContext {
  readonly #vocabulary: Vocabulary;
  readonly #dimensions: number;

  constructor(vocabulary: Vocabulary, dimensions: number) {
    this.#vocabulary = vocabulary;
    this.#dimensions = dimensions;
  }

  async getEmbeddingFor(tokens: readonly number[]): Promise<{ readonly vector: readonly number[] }> {
    await wait(0);
    // The vector of an empty text has length 0, as in the real engine.
    const vector = Array.from({ length: tokens.length === 0 ? 0 : this.#dimensions }, () => 0);
    for (const token of tokens) {
      if (!this.#vocabulary.has(token)) throw new Error(`there is no token ${token}`);
      vector[token % this.#dimensions] = (vector[token % this.#dimensions] ?? 0) + 1;
    }
    const length = Math.hypot(...vector);
    return { vector: vector.map((value) => value / length) };
  }
}

/** Ends the process, because native code does not throw. */
function crash(words: string): never {
  process.stderr.write(`${words}\n`);
  process.abort();
}

/** Blocks the whole process. */
function hang(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HANG_MS);
  process.exit(1);
}
