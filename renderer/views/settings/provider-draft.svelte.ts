// A provider that is being set up: what was filled in, its live test, and how it is kept. The key goes to the keychain and is forgotten here.

import type { ProviderConfig } from '../../../core/contracts/config.ts';
import type { OpResult } from '../../../core/contracts/ops.ts';
import type { OpClient } from '../../lib/client.ts';

export type Preset = OpResult<'model.presets'>['presets'][number];

/** Any server that speaks the usual format. */
export const otherPreset = { id: 'other', kind: 'openai-compatible', baseUrl: '', keyName: 'other', keyUrl: null } as const;

const reference = /^(?:keychain|env|file):/;

export class ProviderDraft {
  readonly kind: Preset['kind'];
  readonly keyUrl: string | null;
  /** Whether this kind of provider is reached with a key, usually. */
  readonly takesKey: boolean;
  name = $state('');
  baseUrl = $state('');
  /** A key, or a reference to one. */
  key = $state('');
  modelId = $state('');
  inputUsd = $state<number | null>(null);
  outputUsd = $state<number | null>(null);
  isDefault = $state(true);
  test = $state.raw<OpResult<'model.test'> | null>(null);
  readonly #client: OpClient;
  /** Under which name the key was put away; taken out again when nothing is saved. */
  #storedAs: string | null = null;
  #storedRef: string | null = null;

  constructor(client: OpClient, preset: Omit<Preset, 'title'>, takenNames: readonly string[]) {
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

  get isComplete(): boolean {
    const needsKey = this.kind === 'openai' || this.kind === 'anthropic';
    const hasAddress = this.kind !== 'openai-compatible' || this.baseUrl.trim() !== '';
    const hasKey = !needsKey || this.#storedRef !== null || this.key.trim() !== '';
    return /^[A-Za-z0-9_-]+$/.test(this.name.trim()) && this.modelId.trim() !== '' && hasAddress && hasKey;
  }

  /** Asks the model for a word. Rejects where not even the question could be asked. */
  async tryOut(): Promise<void> {
    this.test = null;
    const provider = this.#provider(await this.#keepKey());
    this.test = await this.#client.op('model.test', { model: this.ref, provider });
  }

  async save(): Promise<void> {
    const provider = this.#provider(await this.#keepKey());
    await this.#client.op('config.set', { key: `providers.${this.name.trim()}`, value: provider });
    // The provider needs it from now on, whatever becomes of the rest.
    this.#storedAs = null;
    if (this.isDefault) await this.#client.op('config.set', { key: 'models.default', value: this.ref });
  }

  /** Leaves nothing behind. */
  async giveUp(): Promise<void> {
    const name = this.#storedAs;
    this.#storedAs = null;
    if (name !== null) await this.#client.op('secret.delete', { name });
  }

  /** Where the key is from now on; null without one. */
  async #keepKey(): Promise<string | null> {
    const key = this.key.trim();
    if (key === '') return this.#storedRef;
    if (reference.test(key)) {
      this.#storedRef = key;
      return key;
    }
    const name = this.#storedAs ?? freeName(this.name.trim(), (await this.#client.op('secret.list', {})).names);
    await this.#client.op('secret.set', { name, value: key });
    this.key = '';
    this.#storedAs = name;
    this.#storedRef = `keychain:${name}`;
    return this.#storedRef;
  }

  #provider(apiKey: string | null): ProviderConfig {
    const address = this.baseUrl.trim();
    const { inputUsd, outputUsd } = this;
    const priced = typeof inputUsd === 'number' && typeof outputUsd === 'number';
    const prices = priced ? { prices: { [this.modelId.trim()]: { inputUsdPerMillion: inputUsd, outputUsdPerMillion: outputUsd } } } : {};
    const place = address === '' ? {} : { baseUrl: address };
    const key = apiKey === null ? {} : { apiKey };
    switch (this.kind) {
      case 'openai':
      case 'anthropic':
        return { kind: this.kind, apiKey: apiKey ?? '', ...place, ...prices };
      case 'openai-compatible':
        return { kind: this.kind, baseUrl: address, ...key, ...prices };
      case 'ollama':
        return { kind: this.kind, ...place, ...prices };
    }
  }
}

/** The name, or with the first number that makes it a new one. */
export function freeName(wanted: string, taken: readonly string[]): string {
  if (!taken.includes(wanted)) return wanted;
  for (let number = 2; ; number++) if (!taken.includes(`${wanted}-${number}`)) return `${wanted}-${number}`;
}
