// Decides which model answers if none is chosen, and explains why if there is none or only the offline demo. Pure; makes no requests.

import type { AppError } from '../../contracts/errors.ts';
import type { KeyOffer } from '../../contracts/provider-ops.ts';
import { demoModelId } from './demo-client.ts';

export interface DefaultInputs {
  /** `models.default`. */
  readonly configured: string | null;
  /** The names of the configured providers, in their order. */
  readonly providers: readonly string[];
  readonly modelOf: (provider: string) => string | null;
  /** The error of the last request for the models of the provider's server. */
  readonly failureOf: (provider: string) => AppError | null;
  /** A model of a server found on this computer. */
  readonly found: string | null;
  /** The model of the newest conversation. */
  readonly former: string | null;
  readonly offers: readonly KeyOffer[];
}

export interface DefaultChoice {
  readonly ref: string | null;
  /** The missing part and how to fix it; null if a model was named or found. */
  readonly problem: { readonly message: string; readonly hint: string } | null;
}

export const demoRef = `demo/${demoModelId}`;
const useDemo = `to use the offline demo: trayclaw config set models.default ${demoRef}`;

export function chooseDefault(inputs: DefaultInputs): DefaultChoice {
  const { configured, providers, modelOf, found, former, offers } = inputs;
  if (configured !== null) return { ref: configured, problem: null };
  for (const provider of providers) {
    const modelId = modelOf(provider);
    if (modelId !== null) return { ref: `${provider}/${modelId}`, problem: null };
  }
  const [first] = providers;
  if (first !== undefined) return { ref: null, problem: withoutModel(first, inputs.failureOf(first)) };
  if (found !== null) return { ref: found, problem: null };
  if (former !== null && former !== demoRef) return { ref: null, problem: serverGone(former) };
  return { ref: demoRef, problem: onlyDemo(offers) };
}

function withoutModel(provider: string, failure: AppError | null): NonNullable<DefaultChoice['problem']> {
  const message = failure === null ? `The server of ${provider} offers no model to chat with.` : failure.message;
  const hint =
    failure?.hint === undefined || failure.code === 'model_unavailable'
      ? `Start the server of ${provider}, correct providers.${provider},`
      : failure.hint.replace(/\.?$/, ',');
  return {
    message: `No model can be used. ${message}`,
    hint: `${hint} or name a model: trayclaw config set models.default ${provider}/MODEL`,
  };
}

/** The server was found without configuration, so only the last conversation knows about it. */
function serverGone(former: string): NonNullable<DefaultChoice['problem']> {
  const provider = former.slice(0, former.indexOf('/'));
  return {
    message: `The model server ${provider} that answered before (${former}) is not running.`,
    hint: `Start ${provider}, or set up another model: trayclaw setup; ${useDemo}`,
  };
}

function onlyDemo([offer]: readonly KeyOffer[]): NonNullable<DefaultChoice['problem']> {
  const message = 'This is the offline demo, not a language model: no provider is set up and no model server runs on this computer.';
  if (offer === undefined) return { message, hint: 'Set one up: trayclaw setup' };
  const { title, preset, variable } = offer;
  return {
    message,
    hint: `Found a key for ${title} in ${variable}. Use it: trayclaw setup --provider ${preset} --key-env ${variable} --yes`,
  };
}
