// Views of models, their engine and their prices, settings and secrets. A secret is never typed on the command line.

import { counted } from '../../../base/counted.ts';
import { TOOLS_MAX } from '../../../contracts/llm.ts';
import { AppError } from '../../../contracts/errors.ts';
import type { OpResult } from '../../../contracts/ops.ts';
import { exitCodes } from '../exit-code.ts';
import type { ViewsOf } from '../kernel/view.ts';
import { describePolicy } from '../policy.ts';
import { setSecret, unlock } from '../secrets.ts';
import { money, table } from '../table.ts';
import { describeOpinion } from './caution.ts';
import type { EngineState } from '../../../contracts/features/engine.ts';
import type { CheckedPrices, ListedPrice, PricesInUse } from '../../../contracts/features/prices.ts';

type Listing = OpResult<'model.list'>['models'][number];

export const modelViews: ViewsOf<'model'> = {
  'model.list': {
    params: ({ provider }) => (provider === undefined ? { look: true } : { provider }),
    json: ({ models }, { provider }) => wantedOf(models, provider),
    show: (result, { params }) => describeModels(result, params.provider),
    exitCode: ({ failed }, { provider }) =>
      provider !== undefined && failed.some((one) => one.provider === provider) ? exitCodes.failed : exitCodes.done,
  },
  'model.route': { show: describeRoute },
  'model.test': { show: describeTest, saysWhyNot: true },
  'model.opinion': { show: describeOpinion },
};

const moments = { now: 'It takes effect at once.', 'next-start': 'It takes effect at the next start.' } as const;

export const configViews: ViewsOf<'config'> = {
  'config.get': {
    json: ({ value, ...all }, { key }) => (key === undefined ? all : value),
    show: ({ value, ...all }, { params: { key } }) => (key === undefined ? describeConfig(all) : describeSetting(value)),
    others: {
      'policy show': { json: ({ config }) => config.policy, show: ({ config, path }) => describePolicy(config.policy, path) },
    },
  },
  'config.set': {
    params: async ({ key = '' }, { given }) => ({ key, value: await parseSetting(String(given['value'])) }),
    show: ({ path, warnings, holds }) => [...warnings, `Written to ${path}. ${moments[holds]}`].join('\n'),
  },
  'config.schema': { json: ({ schema }) => schema, show: ({ schema }) => JSON.stringify(schema, null, 2) },
};

function describeConfig({ path, warnings, config }: Pick<OpResult<'config.get'>, 'path' | 'warnings' | 'config'>): string {
  return [`# ${path}`, ...warnings.map((text) => `# ${text}`), JSON.stringify(config, null, 2)].join('\n');
}

function describeSetting(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Fails with `invalid_params`. */
async function parseSetting(text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: false });
  const [first] = [...document.errors, ...document.warnings];
  try {
    if (first === undefined) return document.toJS();
  } catch (cause) {
    throw noYaml(cause);
  }
  throw noYaml(first);
}

function noYaml(cause: unknown): AppError {
  const hint = `Quote a text that contains special characters, for example: '"@home"'`;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AppError('invalid_params', `<value> is not valid YAML: ${why}`, { cause, hint });
}

export const secretViews: ViewsOf<'secret'> = {
  'secret.set': { perform: (context, { name }) => setSecret(context, name) },
  'secret.list': { json: ({ names }) => names, show: ({ names }) => names.join('\n') || 'No secrets.' },
  'secret.delete': {
    show: ({ name, deleted }, { program }) => (deleted ? `Deleted ${name}.` : `There is no secret ${name}.\nSee: ${program} secret list`),
    saysWhyNot: true,
  },
  'secret.unlock': { perform: (context) => context.withClaw('any', (connection) => unlock(context, connection)) },
};

function size({ contextTokens }: Listing): string {
  return contextTokens >= 1_000_000 ? `${Math.round(contextTokens / 100_000) / 10}M` : `${Math.round(contextTokens / 1000)}k`;
}

function price({ inputUsdPerMillion: input, outputUsdPerMillion: output }: Listing): string {
  if (input === null || output === null) return 'unknown';
  return input === 0 && output === 0 ? 'free' : `${input} / ${output}`;
}

function sourceOf({ source: from, missing }: Listing): string {
  return missing === true ? `${from}, but its server does not offer it` : from;
}

function describeRoute({ ref, tokens, candidates, chosen, reason }: OpResult<'model.route'>): string {
  const rows = candidates.map((one) => [
    one.model,
    one.allowed ? 'yes' : 'no',
    one.coolingMs > 0 ? `cooling, ${Math.ceil(one.coolingMs / 1000)} s` : one.health,
    one.latencyMs === null ? '-' : `${Math.round(one.latencyMs)} ms`,
    one.expectedUsd === null ? 'unknown' : money(one.expectedUsd),
    one.reason,
  ]);
  const end = chosen === null ? `No model: ${reason}.` : `${chosen}: ${reason}.`;
  const listed = table(['MODEL', 'ALLOWED', 'HEALTH', 'FIRST WORD', 'EXPECTED', 'WHY'], rows, 'No candidates.');
  return `${ref}, a request of about ${counted(tokens, 'token')}\n\n${listed}\n\n${end}`;
}

function wantedOf(models: readonly Listing[], provider: string | undefined): readonly Listing[] {
  return provider === undefined ? models : models.filter((model) => model.provider === provider);
}

function describeModels({ models, failed, problem }: OpResult<'model.list'>, provider: string | undefined): string {
  const rows = wantedOf(models, provider).map((one) => [one.ref, one.isDefault ? 'yes' : '', size(one), price(one), sourceOf(one)]);
  const away = failed
    .filter((one) => provider === undefined || one.provider === provider)
    .map(({ provider: name, error }) => `${name}: ${error.message}${error.hint === undefined ? '' : ` ${error.hint}`}`);
  const missing = problem === null ? [] : [`${problem.message} ${problem.hint}`];
  const listed = table(['MODEL', 'DEFAULT', 'WINDOW', 'US$ PER MILLION, IN/OUT', 'SOURCE'], rows, 'No models were found.');
  return [listed, ...[...away, ...missing].map((line) => `\n${line}`)].join('\n');
}

function describeTest({ ok, tookMs, error, toolsLeftOut = 0 }: OpResult<'model.test'>): string {
  if (!ok) return [error?.message ?? '', error?.hint ?? ''].join('\n').trim();
  const leftOut =
    toolsLeftOut === 0 ? '' : ` ${counted(toolsLeftOut, 'tool was', 'tools were')} left out: a request takes no more than ${TOOLS_MAX}.`;
  return `It answers (${tookMs} ms).${leftOut}`;
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`;

const engineStates: Readonly<Record<EngineState['state'], (engine: EngineState) => string>> = {
  unsupported: () => 'There is no engine for this platform. Use Ollama, LM Studio or llama-server.',
  absent: ({ version, source, downloadBytes, diskBytes }) =>
    `The engine ${version} is not installed: ${megabytes(downloadBytes)} to download from ${source}, ${megabytes(diskBytes)} on the disk. Install it: trayclaw model install-engine`,
  installing: ({ doneBytes, downloadBytes }) => `The engine is being installed: ${megabytes(doneBytes)} of ${megabytes(downloadBytes)}.`,
  installed: ({ version, folder }) => `The engine ${version} is installed in ${folder}.`,
};

export const engineViews: ViewsOf<'engine'> = {
  'engine.get': { show: (engine) => engineStates[engine.state](engine) },
};

const SHOWN_MAX = 40;

const inUse = ({ source, builtInOn, loaded }: PricesInUse): string =>
  loaded === null
    ? `The prices of ${builtInOn} that come with the program are in use. To look at newer ones: trayclaw model refresh-prices`
    : `Prices of ${counted(loaded.models, 'model')} from ${source} are in use, loaded on ${new Date(loaded.atMs).toISOString().slice(0, 10)}. To go back: trayclaw model forget-prices`;

const priceOf = ({ inputUsdPerMillion, outputUsdPerMillion }: ListedPrice): string => `${inputUsdPerMillion} / ${outputUsdPerMillion}`;

export function changesText({ source, models, added, changed, changes }: CheckedPrices): string {
  const head = `${source} lists ${counted(models, 'model')}: ${changed} with another price or window, ${added} that had none.`;
  const lines = changes
    .slice(0, SHOWN_MAX)
    .map(({ vendor, model, before, after }) => `  ${vendor}/${model}  ${before === null ? 'new' : priceOf(before)} → ${priceOf(after)}`);
  const rest = changed + added - lines.length;
  return [
    head,
    ...(lines.length > 0 ? ['US dollars per million tokens, input / output:'] : []),
    ...lines,
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ].join('\n');
}

export const pricesViews: ViewsOf<'prices'> = {
  'prices.get': { show: inUse },
  'prices.forget': { show: inUse },
};
