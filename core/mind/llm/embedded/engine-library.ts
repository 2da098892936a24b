// Wraps the installed engine (node-llama-cpp) in the few calls that the child needs. Loads its prebuilt library by path, so that the parts
// of the package that compile, download or start a test process are never used. Its types are declared here, because it is not a
// dependency.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LoadOrder } from './engine-messages.ts';
import { engineTarget } from './engine-place.ts';

/** One model in memory with one token sequence. Allows one call at a time. */
export interface EngineModel {
  readonly contextTokens: number;
  /** The chat template of the file; null if it has none. */
  readonly template: string | null;
  readonly bosText: string;
  readonly eosText: string;
  /** Fails with the template's own message. */
  render(variables: Readonly<Record<string, unknown>>): string;
  /** `continues` means that the text follows other text, so its first token does not start a word. */
  tokenize(text: string, continues?: boolean): readonly number[];
  detokenize(tokens: readonly number[], before: readonly number[]): string;
  isEnd(token: number): boolean;
  /** The tokens whose state is cached. */
  kept(): readonly number[];
  /** Drops the state from this position on. It may drop more. */
  forgetFrom(place: number): Promise<void>;
  read(tokens: readonly number[]): Promise<void>;
  /** Reads the tokens, then yields the generated ones, one by one. `rule` is called before each. */
  write(tokens: readonly number[], rule: () => CallRule | null): AsyncIterable<number>;
  createRule(gbnf: string): Promise<() => CallRule>;
  embed(text: string): Promise<{ readonly vector: readonly number[]; readonly tokens: number }>;
}

/** The state of a grammar for one text. */
export type CallRule = object;

type Token = number;

interface Sequence {
  readonly contextTokens: readonly Token[];
  readonly nextTokenIndex: number;
  eraseContextTokenRanges(ranges: readonly { start: number; end: number }[]): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly Token[]): Promise<void>;
  evaluate(tokens: readonly Token[], options: Readonly<Record<string, unknown>>): AsyncIterable<Token>;
}

interface NativeModel {
  readonly trainContextSize: number;
  readonly tokens: { readonly bosString: string | null; readonly eosString: string | null };
  readonly fileInfo: { readonly metadata: { readonly tokenizer?: { readonly chat_template?: unknown } } };
  tokenize(text: string, special: boolean, options?: 'trimLeadingSpace'): readonly Token[];
  detokenize(tokens: readonly Token[], special: boolean, lastTokens: readonly Token[]): string;
  isEogToken(token: Token): boolean;
  createContext(options: Readonly<Record<string, unknown>>): Promise<{ readonly contextSize: number; getSequence(): Sequence }>;
  createEmbeddingContext(
    options: Readonly<Record<string, unknown>>,
  ): Promise<{ getEmbeddingFor(tokens: readonly Token[]): Promise<{ readonly vector: readonly number[] }> }>;
}

interface Llama {
  loadModel(options: Readonly<Record<string, unknown>>): Promise<NativeModel>;
  createGrammar(options: { readonly grammar: string }): Promise<object>;
}

interface Library {
  readonly llama: Llama;
  readonly Template: new (source: string) => { render(variables: Readonly<Record<string, unknown>>): string };
  readonly GrammarState: new (options: { readonly model: NativeModel; readonly grammar: object }) => CallRule;
}

const BATCH_TOKENS = 256;
const EMBEDDING_TOKENS_MAX = 8_192;
/** The vendor's own defaults, which suit chat as well. */
const sampling = { temperature: 0.6, topK: 40, topP: 0.95, minP: 0.05 };

export async function openModel(order: LoadOrder): Promise<EngineModel> {
  const library = await openLibrary(order);
  const model = await library.llama.loadModel({ modelPath: order.file, defaultContextFlashAttention: 'auto' });
  const contextTokens = Math.min(order.contextTokens, model.trainContextSize);
  const source = model.fileInfo.metadata.tokenizer?.chat_template;
  const template = typeof source === 'string' ? source : null;
  const chat = template === null ? null : new library.Template(template);
  // An embedding model has no template, and needs no context for a conversation.
  const context =
    chat === null
      ? null
      : await model.createContext({ contextSize: { max: contextTokens }, threads: order.threads, batchSize: BATCH_TOKENS, sequences: 1 });
  const sequence = context?.getSequence() ?? null;
  let embedding: ReturnType<NativeModel['createEmbeddingContext']> | null = null;
  return {
    contextTokens: context?.contextSize ?? contextTokens,
    template,
    bosText: model.tokens.bosString ?? '',
    eosText: model.tokens.eosString ?? '',
    render: (variables) => chat?.render(variables) ?? '',
    tokenize: (text, continues = false) => model.tokenize(text, true, ...(continues ? (['trimLeadingSpace'] as const) : [])),
    detokenize: (tokens, before) => model.detokenize(tokens, true, before),
    isEnd: (token) => model.isEogToken(token),
    kept: () => sequence?.contextTokens ?? [],
    async forgetFrom(place) {
      if (sequence === null || place >= sequence.nextTokenIndex) return;
      await sequence.eraseContextTokenRanges([{ start: place, end: sequence.nextTokenIndex }]);
    },
    async read(tokens) {
      await sequence?.evaluateWithoutGeneratingNewTokens(tokens);
    },
    write: (tokens, rule) => evaluate(sequence, tokens, rule),
    async createRule(gbnf) {
      const grammar = await library.llama.createGrammar({ grammar: gbnf });
      return () => new library.GrammarState({ model, grammar });
    },
    async embed(text) {
      const size = Math.min(EMBEDDING_TOKENS_MAX, model.trainContextSize);
      embedding ??= model.createEmbeddingContext({ contextSize: { max: size }, threads: order.threads });
      const tokens = model.tokenize(text, false).slice(0, size - 2);
      const { vector } = await (await embedding).getEmbeddingFor(tokens);
      return { vector, tokens: tokens.length };
    },
  };
}

function evaluate(sequence: Sequence | null, tokens: readonly number[], rule: () => CallRule | null): AsyncIterable<number> {
  if (sequence === null) throw new Error('it holds no conversation');
  return sequence.evaluate(tokens, { ...sampling, yieldEogToken: true, grammarEvaluationState: () => rule() ?? undefined });
}

async function openLibrary({ library, threads }: LoadOrder): Promise<Library> {
  const modules = join(library, 'node_modules');
  const load = async (path: string): Promise<Record<string, unknown>> =>
    (await import(pathToFileURL(join(modules, path)).href)) as Record<string, unknown>;
  const { Llama: Engine } = (await load('node-llama-cpp/dist/bindings/Llama.js')) as {
    Llama: { _create(options: Readonly<Record<string, unknown>>): Promise<Llama> };
  };
  const { LlamaGrammarEvaluationState: GrammarState } = (await load('node-llama-cpp/dist/evaluator/LlamaGrammarEvaluationState.js')) as {
    LlamaGrammarEvaluationState: Library['GrammarState'];
  };
  const { Template } = (await load('@huggingface/jinja/dist/index.js')) as Pick<Library, 'Template'>;
  const target = engineTarget(process.platform, process.arch) ?? '';
  const folder = join(modules, '@node-llama-cpp', target, 'bins', target);
  const bindingPath = join(folder, 'llama-addon.node');
  // eslint-disable-next-line no-underscore-dangle -- the public way would test the library in another process, or compile it
  const llama = await Engine._create({
    bindings: createRequire(bindingPath)(bindingPath) as unknown,
    bindingPath,
    buildType: 'prebuilt',
    buildMetadata: JSON.parse(readFileSync(join(folder, '_nlcBuildMetadata.json'), 'utf8')) as unknown,
    logLevel: 'error',
    logger: (level: string, message: string) => process.stderr.write(`${level}: ${message.trim()}\n`),
    maxThreads: threads,
    vramPadding: (total: number) => Math.floor(Math.min(total * 0.06, 1024 ** 3)),
    ramPadding: (total: number) => Math.floor(Math.min(total * 0.05, 1024 ** 3)),
    skipLlamaInit: false,
    debug: false,
    numa: false,
    tempDir: false,
  });
  return { llama, Template, GrammarState };
}
