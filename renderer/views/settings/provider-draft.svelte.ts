// A provider during set-up: the entered fields, the models its server offers, and a live test. The key is stored only when the provider is
// saved, so cancelling leaves nothing behind.

import type { OpParams, OpResult } from '../../../core/contracts/ops.ts';
import type { OpClient } from '../../lib/client.ts';
import { referenceForm } from './controls.ts';

export type Preset = OpResult<'model.presets'>['presets'][number];

/** Any server that supports OpenAI's API. */
export const otherPreset = { id: 'other', kind: 'openai-compatible', baseUrl: '', keyName: 'other', keyUrl: null } as const;

export class ProviderDraft {
  readonly kind: Preset['kind'];
  readonly keyUrl: string | null;
  /** Whether this kind of provider usually needs a key. */
  readonly takesKey: boolean;
  name = $state('');
  baseUrl = $state('');
  /** The path of a GGUF file. */
  file = $state('');
  /** A key, or a reference to one. */
  key = $state('');
  modelId = $state('');
  inputUsd = $state<number | null>(null);
  outputUsd = $state<number | null>(null);
  isDefault = $state(true);
  test = $state.raw<OpResult<'provider.try'> | null>(null);
  /** The server's models, once requested. */
  models = $state.raw<OpResult<'provider.try'>['models']>([]);
  readonly #client: OpClient;

  constructor(client: OpClient, preset: Omit<Preset, 'title' | 'keyVariable'>, takenNames: readonly string[]) {
    this.#client = client;
    this.kind = preset.kind;
    this.keyUrl = preset.keyUrl;
    this.takesKey = preset.keyName !== null;
    this.name = freeName(preset.id, takenNames);
    this.baseUrl = preset.baseUrl ?? '';
  }

  get ref(): string {
    return `${this.name.trim()}/${this.modelId.trim()}`;
  }

  /** The model may be empty; the server's default is then used. */
  get isComplete(): boolean {
    const needsKey = this.kind === 'openai' || this.kind === 'anthropic';
    const hasAddress = this.kind !== 'openai-compatible' || this.baseUrl.trim() !== '';
    const hasFile = this.kind !== 'embedded' || this.file.trim() !== '';
    const hasKey = !needsKey || this.key.trim() !== '';
    return /^[A-Za-z0-9_-]+$/.test(this.name.trim()) && hasAddress && hasFile && hasKey;
  }

  /** Requests the server's models, and a one-word answer from one of them. Rejects only if the request could not be made at all. */
  async tryOut(): Promise<void> {
    this.test = null;
    const modelId = this.modelId.trim();
    const test = await this.#client.op('provider.try', { provider: this.#draft(), ...(modelId === '' ? {} : { modelId }) });
    this.models = test.models;
    if (modelId === '' && test.modelId !== null) this.modelId = test.modelId;
    this.test = test;
  }

  /** Resolves to warnings for the person. Drops the key. */
  async save(): Promise<readonly string[]> {
    const { isDefault } = this;
    const modelId = this.modelId.trim();
    const added = await this.#client.op('provider.add', { provider: this.#draft(), ...(modelId === '' ? {} : { modelId }), isDefault });
    this.key = '';
    return added.warnings;
  }

  #draft(): OpParams<'provider.add'>['provider'] {
    const address = this.baseUrl.trim();
    const file = this.file.trim();
    const key = this.key.trim();
    const { inputUsd, outputUsd } = this;
    const priced = typeof inputUsd === 'number' && typeof outputUsd === 'number' && this.modelId.trim() !== '';
    return {
      name: this.name.trim(),
      kind: this.kind,
      ...(address === '' ? {} : { baseUrl: address }),
      ...(file === '' ? {} : { file }),
      ...(key === '' ? {} : referenceForm.test(key) ? { apiKey: key } : { key }),
      ...(priced ? { prices: { [this.modelId.trim()]: { inputUsdPerMillion: inputUsd, outputUsdPerMillion: outputUsd } } } : {}),
    };
  }
}

/** The wanted name, with the first number that makes it unique if necessary. */
export function freeName(wanted: string, taken: readonly string[]): string {
  if (!taken.includes(wanted)) return wanted;
  for (let number = 2; ; number++) if (!taken.includes(`${wanted}-${number}`)) return `${wanted}-${number}`;
}
