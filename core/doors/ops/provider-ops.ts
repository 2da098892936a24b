// The operations on providers: listing a server's models, a live test, and adding a provider. A key under test is not stored until the
// provider is added.

import { providerSchema, type ProviderConfig } from '../../contracts/config.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { ServedCaller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import { parseGiven } from '../../contracts/parse-given.ts';
import type { ProviderDraft } from '../../contracts/provider-ops.ts';
import { bareKey, handedOverKey, otherVendorHint } from '../../mind/llm/llm.ts';
import type { OpsParts } from './parts.ts';
import { explainRoute } from './route-op.ts';
import { testModel } from './model-test.ts';
import { shortSecretWords } from './short-secret.ts';

type Deps = Pick<
  OpsParts,
  | 'closing'
  | 'models'
  | 'packer'
  | 'budget'
  | 'secrets'
  | 'settings'
  | 'agents'
  | 'clock'
  | 'gate'
  | 'ids'
  | 'log'
  | 'panic'
  | 'safety'
  | 'tools'
>;

export function createProviderOps(deps: Deps) {
  return {
    'model.list': async ({ look, provider }, { gone: signal }) => {
      if (look === true) await Promise.all([deps.models.discover(signal), deps.models.lookAtServers(signal)]);
      else if (provider !== undefined) await deps.models.lookAtServers(signal, provider);
      else await deps.models.ready();
      return deps.models.list();
    },
    'model.route': async (params, caller) => {
      await deps.models.ready();
      return explainRoute(deps, params, caller);
    },
    'model.test': (params, caller) => testModel(deps, params, caller),
    'model.presets': () => ({ presets: deps.models.presets() }),
    'provider.try': async (params, caller) => {
      const provider = withBareKey(params.provider);
      return withVendorHint(await tryProvider(deps, { ...params, provider }, caller), provider);
    },
    'provider.add': (params, caller) => addProvider(deps, { ...params, provider: withBareKey(params.provider) }, caller),
  } satisfies Partial<OpHandlers>;
}

function withBareKey(draft: ProviderDraft): ProviderDraft {
  return draft.key === undefined ? draft : { ...draft, key: bareKey(draft.key) };
}

function withVendorHint(tried: OpResult<'provider.try'>, { kind, baseUrl, key = '' }: ProviderDraft): OpResult<'provider.try'> {
  if (tried.error?.code !== 'model_auth') return tried;
  const hint = otherVendorHint(key, { kind, ...(baseUrl === undefined ? {} : { baseUrl }) });
  return hint === null ? tried : { ...tried, error: { ...tried.error, hint } };
}

/** Tests a provider. A server without a model list may still respond if a model is named. Fails as `testModel` does. */
async function tryProvider(deps: Deps, given: OpParsed<'provider.try'>, caller: ServedCaller): Promise<OpResult<'provider.try'>> {
  const { name, key } = given.provider;
  if (key !== undefined) deps.secrets.guard(key, name);
  const provider = configOf(given.provider, key === undefined ? undefined : handedOverKey);
  const signal = caller.gone;
  const nothing = { models: [], modelId: null, tookMs: 0, firstTokenMs: null, costUsd: null };
  let models: OpResult<'provider.try'>['models'] = [];
  let modelId = given.modelId ?? null;
  try {
    const survey = await deps.models.survey(name, { provider, key, signal });
    models = survey.models.map((model) => ({
      modelId: model.ref.slice(name.length + 1),
      contextTokens: model.contextTokens,
      inputUsdPerMillion: model.inputUsdPerMillion,
      outputUsdPerMillion: model.outputUsdPerMillion,
    }));
    modelId ??= survey.usual;
  } catch (cause) {
    if (modelId === null) return { ok: false, ...nothing, error: toAppError(cause).toBody() };
  }
  if (modelId === null) return { ok: false, ...nothing, error: noModels(name).toBody() };
  const { ok, tookMs, firstTokenMs, costUsd, error } = await testModel(deps, { model: `${name}/${modelId}`, provider, key }, caller);
  return { ok, models, modelId, tookMs, firstTokenMs, costUsd, error };
}

function noModels(name: string): AppError {
  return new AppError('model_unknown', `${name} answers, and offers no model to chat with.`, {
    hint: 'Load or download a model there, or name one yourself.',
  });
}

/** Stores the key first, because the settings refer to it, and removes it again if the settings cannot be written. */
async function addProvider(deps: Deps, given: OpParsed<'provider.add'>, caller: ServedCaller): Promise<OpResult<'provider.add'>> {
  const { provider: draft, modelId, isDefault = true } = given;
  const { name, key } = draft;
  const secret = key === undefined ? null : freeName(name, await deps.secrets.list());
  const provider = configOf(draft, secret === null ? undefined : `keychain:${secret}`);
  const model = modelId === undefined ? null : `${name}/${modelId}`;
  const kept = secret === null || key === undefined ? null : await deps.secrets.set(secret, key);
  const settings = [
    { key: `providers.${name}`, value: provider },
    ...(model !== null && isDefault ? [{ key: 'models.default', value: model }] : []),
  ];
  try {
    const { path, warnings } = await deps.settings.changeAll(settings, caller.actor);
    const short = kept === null || kept.isKeptOut ? [] : [shortSecretWords(secret ?? name)];
    return { provider: name, model, path, warnings: [...short, ...warnings] };
  } catch (cause) {
    if (secret !== null) await deps.secrets.delete(secret);
    throw cause;
  }
}

/** Fails with invalid_params if a key or an address is missing. */
function configOf({ kind, file, baseUrl, apiKey, prices }: ProviderDraft, keyRef: string | undefined): ProviderConfig {
  const ref = keyRef ?? apiKey;
  const given = {
    kind,
    ...(file === undefined ? {} : { file }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(ref === undefined ? {} : { apiKey: ref }),
    ...(prices === undefined ? {} : { prices }),
  };
  return parseGiven(providerSchema, given, { says: 'The provider is not valid', whole: 'the provider' });
}

function freeName(wanted: string, taken: readonly string[]): string {
  if (!taken.includes(wanted)) return wanted;
  for (let number = 2; ; number++) if (!taken.includes(`${wanted}-${number}`)) return `${wanted}-${number}`;
}
