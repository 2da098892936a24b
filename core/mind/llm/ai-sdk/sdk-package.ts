// Loads an AI SDK package that a person installed into the data folder, and creates its model. Loads packages only from that folder, to
// which no tool writes. Knows no vendor.

import { join } from 'node:path';
import { AppError } from '../../../contracts/errors.ts';
import { loadAddedPackage } from '../../../store/home/home.ts';

/** The part of an AI SDK model that is used here; the same in each version of its interface. */
export interface SdkModel {
  readonly specificationVersion: string;
  doStream(options: Readonly<Record<string, unknown>>): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

const versions: ReadonlySet<string> = new Set(['v2', 'v3', 'v4']);

export function packagesFolder(home: string): string {
  return join(home, 'packages');
}

/** Returns a function that creates a model by name. Fails with `invalid_config` if the package is missing or is not an AI SDK provider. */
export async function openPackage(
  home: string,
  name: string,
  options: Readonly<Record<string, unknown>>,
): Promise<(modelId: string) => SdkModel> {
  const folder = packagesFolder(home);
  const create = factoryOf(name, await loadAddedPackage({ home, name }));
  return (modelId) => {
    const made: unknown = create(options);
    const { languageModel } = Object(made) as { languageModel?: unknown };
    const model: unknown = typeof languageModel === 'function' ? languageModel.call(made, modelId) : null;
    if (!isModel(model))
      throw new AppError('invalid_config', `The package ${name} offers no model this program can use.`, { hint: hint(folder, name) });
    return model;
  };
}

type Factory = (options: Readonly<Record<string, unknown>>) => unknown;

/** Every AI SDK package exports one function that creates its provider, such as createAmazonBedrock. */
function factoryOf(name: string, module: object): Factory {
  const found = Object.entries(module).find(([key, value]) => /^create[A-Z]/.test(key) && typeof value === 'function');
  if (found !== undefined) return found[1] as Factory;
  throw new AppError('invalid_config', `The package ${name} is not an AI SDK provider.`, {
    hint: 'Name a provider package, such as @ai-sdk/amazon-bedrock, in config.yaml.',
  });
}

function isModel(value: unknown): value is SdkModel {
  const { specificationVersion, doStream } = Object(value) as Partial<Record<keyof SdkModel, unknown>>;
  return typeof specificationVersion === 'string' && versions.has(specificationVersion) && typeof doStream === 'function';
}

function hint(folder: string, name: string): string {
  return `Install it: npm install --prefix "${folder}" ${name}`;
}
