// Models and their providers: whether there is one, whether its key is there and its server can be reached, and what it costs.

import { connect } from 'node:net';
import { unpricedWords } from '../../contracts/budget-words.ts';
import type { Config, ProviderConfig } from '../../contracts/config.ts';
import { toAppError } from '../../contracts/errors.ts';
import { TOOLS_MAX } from '../../contracts/llm.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { BudgetScope } from '../../contracts/policy.ts';
import { counted, unwell, warning, well, type Finding, type HealthSource } from './health-source.ts';

export interface ModelChecksDeps {
  readonly providers: () => Config['providers'];
  /** Until it is known which model is used; null when it is. */
  readonly ready: () => Promise<unknown> | null;
  /** The same that a message without a model gets. */
  readonly defaultChoice: () => {
    readonly ref: string | null;
    readonly problem: { readonly message: string; readonly hint: string } | null;
  };
  /** Scopes with a limit in US dollars. */
  readonly limitsUsd: readonly BudgetScope[];
  readonly hasPrice: (ref: string) => boolean;
  /** Fails as reading a secret does. */
  resolveSecret(ref: string): Promise<unknown>;
  readonly toolCount: () => number;
  /** A question to the model, with the tools of a turn. */
  tryModel(ref: string): Promise<Pick<OpResult<'model.test'>, 'ok' | 'tookMs' | 'error'>>;
}

const REACH_MS = 1_500;
const PROVIDERS_MAX = 20;
const usualAddress: Readonly<Record<ProviderConfig['kind'], string | null>> = {
  openai: 'https://api.openai.com',
  anthropic: 'https://api.anthropic.com',
  'openai-compatible': null,
  ollama: 'http://127.0.0.1:11434',
  demo: null,
};

export function modelChecks(deps: ModelChecksDeps): HealthSource {
  return {
    check: async (full) => {
      await deps.ready();
      const providers = Object.entries(deps.providers()).slice(0, PROVIDERS_MAX);
      const found = await Promise.all(providers.map(([name, provider]) => checkProvider(deps, name, provider)));
      return [checkModel(deps), ...checkPrice(deps), ...checkToolCount(deps), ...found.flat(), ...(full ? await checkTurn(deps) : [])];
    },
  };
}

function checkModel({ defaultChoice }: ModelChecksDeps): Finding {
  const { ref, problem } = defaultChoice();
  if (ref === null) return unwell('model', problem?.message ?? 'No model.', problem?.hint ?? 'Set one up: trayclaw setup');
  if (problem !== null) return warning('model', `${ref}. ${problem.message}`, problem.hint);
  return well('model', ref.startsWith('demo/') ? `${ref}: the offline demo, not a language model.` : ref);
}

/** Only where a limit in US dollars is set: then it must be known what the model costs. */
function checkPrice({ defaultChoice, limitsUsd, hasPrice }: ModelChecksDeps): Finding[] {
  const { ref } = defaultChoice();
  if (ref === null || limitsUsd.length === 0) return [];
  if (hasPrice(ref)) return [well('budget', `The price of ${ref} is known, so limits in US dollars hold.`)];
  return [warning('budget', unpricedWords({ model: ref, scopes: [...limitsUsd] }), priceCommand(ref))];
}

function checkToolCount({ toolCount }: ModelChecksDeps): Finding[] {
  const count = toolCount();
  if (count <= TOOLS_MAX) return [];
  const what = `There are ${count} tools, and a request to a model takes ${TOOLS_MAX}. Each request leaves out those it needs least.`;
  return [warning('tools', what, 'Switch off what you do not use: policy.denyTools in config.yaml, or tools of an agent.')];
}

/** The braces are YAML, so that names with dots in them need no other form. */
function priceCommand(ref: string): string {
  const slash = ref.indexOf('/');
  const prices = `{"${ref.slice(slash + 1)}": {inputUsdPerMillion: 1, outputUsdPerMillion: 2}}`;
  return `Set its prices, here with your figures: trayclaw config set providers.${ref.slice(0, slash)}.prices '${prices}'; or a limit in tokens: trayclaw config set budget.perDayTokens 1000000`;
}

/** Costs a question, so it is no part of the quick look: only a server that takes what a turn sends answers turns. */
async function checkTurn(deps: ModelChecksDeps): Promise<Finding[]> {
  const { ref } = deps.defaultChoice();
  if (ref === null || ref.startsWith('demo/')) return [];
  const { ok, tookMs, error } = await deps.tryModel(ref);
  if (ok) return [well('model.turn', `${ref} answers, and takes the tools of a turn (${tookMs} ms).`)];
  return [unwell('model.turn', `${ref}: ${error?.message ?? 'no answer.'}`, error?.hint ?? 'Try another model: trayclaw model test.')];
}

/** Nothing is asked and nothing sent: whether somebody listens is all that is looked at. */
async function checkProvider(deps: ModelChecksDeps, name: string, provider: ProviderConfig): Promise<Finding[]> {
  const id = `provider.${name}`;
  const key = 'apiKey' in provider ? provider.apiKey : undefined;
  try {
    if (key !== undefined) await deps.resolveSecret(key);
  } catch (cause) {
    const { message, hint } = toAppError(cause);
    return [unwell(id, `The key of ${name} cannot be had: ${message}`, hint ?? 'Set the secret that config.yaml names.')];
  }
  const address = ('baseUrl' in provider ? provider.baseUrl : undefined) ?? usualAddress[provider.kind];
  if (address === null) return [];
  const url = new URL(address);
  const failure = await reach(
    url.hostname.replace(/^\[|\]$/g, ''),
    url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
  );
  if (failure === null) return [well(id, `${url.origin} answers${key === undefined ? '' : ', and its key is there'}.`)];
  return [
    unwell(id, `Nothing answers at ${url.origin} (${failure}).`, `Start the server of ${name}, or correct providers.${name}.baseUrl.`),
  ];
}

/** Null when somebody listens there; else why not, in a word. */
function reach(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: REACH_MS });
    const end = (why: string | null): void => {
      socket.destroy();
      resolve(why);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end(`no answer within ${counted(REACH_MS / 1000, 'second')}`));
    socket.once('error', (cause: NodeJS.ErrnoException) => end(cause.code ?? cause.message));
  });
}
