// Checks of models and providers: whether a model is set, whether its key resolves and its server can be reached, and whether its price is
// known.

import { counted } from '../../base/counted.ts';
import { portOf } from '../../base/port-of.ts';
import { connect } from 'node:net';
import { networkSentence } from '../../base/network-failure.ts';
import { unpricedWords } from '../../contracts/turn-words.ts';
import type { ProviderConfig } from '../../contracts/config.ts';
import { toAppError, type ErrorBody } from '../../contracts/errors.ts';
import { noUsage, TOOLS_MAX } from '../../contracts/llm.ts';
import { libraryCaller, servedCaller, type OpHandlers, type OpResult } from '../../contracts/ops.ts';
import { isRouteRef } from '../../contracts/route-name.ts';
import { unwell, warning, well, type Finding, type HealthSource } from '../../contracts/health.ts';
import { keysOf, type ModelRouter } from '../../mind/llm/llm.ts';
import type { Spine } from '../feature.ts';

export interface ModelChecksDeps extends Pick<Spine, 'clock' | 'closing' | 'config' | 'secrets' | 'tools'> {
  readonly models: Pick<ModelRouter, 'ready' | 'defaultChoice' | 'cost' | 'list' | 'lookAtServers'>;
  readonly ops: () => Pick<OpHandlers, 'model.test'>;
  /** The outcome of the newest request of a turn to the model; null if there was none. */
  newestCall(ref: string): { readonly ok: boolean; readonly atMs: number } | null;
}

const REACH_MS = 1_500;
const LIST_MAX_MS = 3_000;
/** A successful turn is recent evidence for this long that the next one works as well. */
const RECENT_MS = 60 * 60_000;
const PROVIDERS_MAX = 20;
const usualAddress: Readonly<Record<ProviderConfig['kind'], string | null>> = {
  openai: 'https://api.openai.com',
  anthropic: 'https://api.anthropic.com',
  'openai-compatible': null,
  ollama: 'http://127.0.0.1:11434',
  cortensor: 'https://api.cortensor.app',
  embedded: null,
  'ai-sdk': null,
  demo: null,
};

export function modelChecks(deps: ModelChecksDeps): HealthSource {
  return {
    check: async (full) => {
      await deps.models.ready();
      const providers = Object.entries(deps.config.providers).slice(0, PROVIDERS_MAX);
      const found = await Promise.all(providers.map(([name, provider]) => checkProvider(deps, name, provider)));
      return [checkModel(deps), ...checkPrice(deps), ...checkToolCount(deps), ...found.flat(), ...(await checkTurn(deps, full))];
    },
  };
}

function checkModel({ models }: ModelChecksDeps): Finding {
  const { ref, problem } = models.defaultChoice();
  if (ref === null) return unwell('model', problem?.message ?? 'No model.', problem?.hint ?? 'Set one up: trayclaw setup');
  if (problem !== null) return warning('model', `${ref}. ${problem.message}`, problem.hint);
  return well('model', ref.startsWith('demo/') ? `${ref}: the offline demo, not a language model.` : ref);
}

/** Checks the price only if a limit in US dollars is set, because only then it must be known. */
function checkPrice({ config: { budget }, models }: ModelChecksDeps): Finding[] {
  const { ref } = models.defaultChoice();
  const limits = { turn: budget.perTurnUsd, session: budget.perSessionUsd, day: budget.perDayUsd };
  const scopes = (['turn', 'session', 'day'] as const).filter((scope) => limits[scope] !== undefined);
  if (ref === null || scopes.length === 0) return [];
  if (models.cost(ref, noUsage) !== null) return [well('budget', `The price of ${ref} is known, so limits in US dollars hold.`)];
  return [warning('budget', unpricedWords({ model: ref, scopes }), isRouteRef(ref) ? priceOfRoute : priceCommand(ref))];
}

function checkToolCount({ tools }: ModelChecksDeps): Finding[] {
  const count = tools.schemas().length;
  if (count <= TOOLS_MAX) return [];
  const what = `There are ${count} tools, and a request to a model takes ${TOOLS_MAX}. Each request leaves out those it needs least.`;
  return [warning('tools', what, 'Switch off what you do not use: policy.denyTools in config.yaml, or tools of an agent.')];
}

const priceOfRoute =
  'Set the prices of its candidates under providers.NAME.prices, or a limit in tokens: trayclaw config set budget.perDayTokens 1000000';

/** The braces are YAML, so that model names with dots need no other notation. */
function priceCommand(ref: string): string {
  const slash = ref.indexOf('/');
  const prices = `{"${ref.slice(slash + 1)}": {inputUsdPerMillion: 1, outputUsdPerMillion: 2}}`;
  return `Set its prices, here with your figures: trayclaw config set providers.${ref.slice(0, slash)}.prices '${prices}'; or a limit in tokens: trayclaw config set budget.perDayTokens 1000000`;
}

/**
 * Checks that the server accepts a request like that of a turn. The full check sends one, which costs money; the quick check uses recent
 * results.
 */
async function checkTurn(deps: ModelChecksDeps, full: boolean): Promise<Finding[]> {
  const { ref } = deps.models.defaultChoice();
  if (ref === null || ref.startsWith('demo/')) return [];
  return [full ? await askModel(deps, ref) : await recallTurn(deps, ref)];
}

async function askModel(deps: ModelChecksDeps, ref: string): Promise<Finding> {
  const { ok, tookMs, error, usage, costUsd } = await testOrRefusal(deps, ref);
  if (!ok)
    return unwell('model.turn', `${ref}: ${error?.message ?? 'no answer.'}`, error?.hint ?? 'Try another model: trayclaw model test.');
  const tokens = counted(usage.inputTokens + usage.outputTokens, 'token');
  const cost = costUsd === null ? tokens : `${tokens}, ${Number(costUsd.toPrecision(2))} US$`;
  return well('model.turn', `${ref} answers, and takes the tools of a turn (${tookMs} ms, ${cost}).`);
}

/** A model that is not asked, because of a budget or the panic stop, fails the check as well. */
async function testOrRefusal(deps: ModelChecksDeps, ref: string): Promise<Omit<OpResult<'model.test'>, 'model' | 'firstTokenMs'>> {
  try {
    return await deps.ops()['model.test']({ model: ref }, servedCaller(libraryCaller, deps.closing));
  } catch (cause) {
    return { ok: false, tookMs: 0, usage: noUsage, costUsd: null, error: toAppError(cause).toBody() };
  }
}

async function recallTurn(deps: ModelChecksDeps, ref: string): Promise<Finding> {
  const { error, isMissing } = await lookUp(deps.models, ref);
  if (error?.code === 'model_auth')
    return unwell('model.turn', `${ref}: ${error.message}`, error.hint ?? 'Check the key of this provider.');
  if (isMissing) return warning('model.turn', `The server of ${ref} does not list this model.`, 'See what it offers: trayclaw models');
  const ask = 'Check it with one small request: trayclaw doctor --full';
  const newest = deps.newestCall(ref);
  if (newest?.ok === false) return warning('model.turn', `The newest request of a turn to ${ref} failed.`, ask);
  const ageMs = newest === null ? Number.POSITIVE_INFINITY : deps.clock.nowMs() - newest.atMs;
  if (ageMs > RECENT_MS) return warning('model.turn', `Not checked: whether ${ref} answers a turn.`, ask);
  return well('model.turn', `${ref} answered a turn ${counted(Math.floor(ageMs / 60_000), 'minute')} ago.`);
}

/** Looks the model up in its server's list, which costs nothing. The list is cached for a few minutes. */
async function lookUp(models: ModelChecksDeps['models'], ref: string): Promise<{ error: ErrorBody | null; isMissing: boolean }> {
  await models.lookAtServers(AbortSignal.timeout(LIST_MAX_MS));
  const { failed, models: listed } = models.list();
  const error = failed.find(({ provider }) => ref.startsWith(`${provider}/`))?.error ?? null;
  return { error, isMissing: listed.some((model) => model.ref === ref && model.missing === true) };
}

/** Checks that the keys resolve and that the server accepts a connection. Sends nothing. */
async function checkProvider(deps: ModelChecksDeps, name: string, provider: ProviderConfig): Promise<Finding[]> {
  const id = `provider.${name}`;
  const keys = keysOf(provider).filter((ref) => ref !== null);
  try {
    for (const key of keys) await deps.secrets.resolve(key);
  } catch (cause) {
    const { message, hint } = toAppError(cause);
    return [unwell(id, `The key of ${name} cannot be had: ${message}`, hint ?? 'Set the secret that config.yaml names.')];
  }
  const address = ('baseUrl' in provider ? provider.baseUrl : undefined) ?? usualAddress[provider.kind];
  if (address === null) return [];
  const url = new URL(address);
  const code = await reach(url.hostname.replace(/^\[|\]$/g, ''), portOf(url));
  if (code === null)
    return [
      well(
        id,
        `${url.origin} answers${keys.length === 0 ? '' : keys.length === 1 ? ', and its key is there' : ', and its keys are there'}.`,
      ),
    ];
  return [
    unwell(id, networkSentence(code, `${url.origin} (${name})`), `Start the server of ${name}, or correct providers.${name}.baseUrl.`),
  ];
}

/** Null if the server accepts a connection; otherwise the code of the failure. */
function reach(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: REACH_MS });
    const end = (why: string | null): void => {
      socket.destroy();
      resolve(why);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end('ETIMEDOUT'));
    socket.once('error', (cause: NodeJS.ErrnoException) => end(cause.code ?? cause.message));
  });
}
