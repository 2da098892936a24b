// Packages of the AI SDK that a person installed into the data folder: loads one and makes its model. Only that folder is looked in, which no
// tool writes to. Knows no vendor.

import { join } from 'node:path';
import { AppError } from '../../../contracts/errors.ts';
import { loadAddedPackage } from '../../../store/home/home.ts';

/** The used part of a model of the AI SDK; the same in each version of its interface. */
export interface SdkModel {
  readonly specificationVersion: string;
  doStream(options: Readonly<Record<string, unknown>>): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

const versions: ReadonlySet<string> = new Set(['v2', 'v3', 'v4']);

export function packagesFolder(home: string): string {
  return join(home, 'packages');
}

/** Makes models by their names. Fails with `invalid_config` when the package is missing or is none of the AI SDK. */
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
      throw new AppError('invalid_config', `The package ${name} offers no model this program can use.`, hint(folder, name));
    return model;
  };
}

type Factory = (options: Readonly<Record<string, unknown>>) => unknown;

/** Every package of the AI SDK exports one function that makes its provider, such as createAmazonBedrock. */
function factoryOf(name: string, module: object): Factory {
  const found = Object.entries(module).find(([key, value]) => /^create[A-Z]/.test(key) && typeof value === 'function');
  if (found !== undefined) return found[1] as Factory;
  throw new AppError('invalid_config', `The package ${name} is no provider of the AI SDK.`, {
    data: { hint: 'Name a provider package, such as @ai-sdk/amazon-bedrock, in config.yaml.' },
  });
}

function isModel(value: unknown): value is SdkModel {
  const { specificationVersion, doStream } = Object(value) as Partial<Record<keyof SdkModel, unknown>>;
  return typeof specificationVersion === 'string' && versions.has(specificationVersion) && typeof doStream === 'function';
}

function hint(folder: string, name: string): { readonly data: { readonly hint: string } } {
  return { data: { hint: `Install it: npm install --prefix "${folder}" ${name}` } };
}
