// The settings as shown: the values in use, the values in the file, unsaved text, and the host's errors. An error never loses typed text.
// Values are stored only in the file.

import type { OpResult } from '../../../core/contracts/ops.ts';
import { toOpFailure, type OpClient } from '../../lib/client.ts';
import { isPlainObject } from '../../../core/base/json.ts';
import type { Schema } from './controls.ts';
import { valueAt } from '../../../core/base/json.ts';
import { isSame, readSettings, type Setting } from './schema-settings.ts';

/** A value, or its absence, for undo. */
interface Before {
  readonly value: unknown;
}

export class SettingsForm {
  settings = $state.raw<readonly Setting[]>([]);
  /** The schema of the whole file. */
  schema = $state.raw<Schema>({});
  read = $state.raw<OpResult<'config.get'> | null>(null);
  drafts = $state.raw<Readonly<Record<string, unknown>>>({});
  errors = $state.raw<Readonly<Record<string, string>>>({});
  /** The value of a key before its last change here, for undo. */
  before = $state.raw<Readonly<Record<string, Before>>>({});
  saving = $state<string | null>(null);
  readonly #client: OpClient;

  constructor(client: OpClient) {
    this.#client = client;
  }

  async load(): Promise<void> {
    const [read, { schema }] = await Promise.all([this.#client.op('config.get', {}), this.#client.op('config.schema', {})]);
    this.schema = schema;
    this.settings = readSettings(schema);
    this.read = read;
  }

  async refresh(): Promise<void> {
    this.read = await this.#client.op('config.get', {});
  }

  /** The value in the file, or the default. */
  saved(setting: Setting): unknown {
    const said = valueAt(this.read?.file, setting.key);
    if (setting.control.kind === 'numbers' && isPlainObject(said) && isPlainObject(setting.standard))
      return { ...setting.standard, ...said };
    return said ?? setting.standard;
  }

  shown(setting: Setting): unknown {
    return setting.key in this.drafts ? this.drafts[setting.key] : this.saved(setting);
  }

  isInFile(setting: Setting): boolean {
    return valueAt(this.read?.file, setting.key) !== undefined;
  }

  isChanged(setting: Setting): boolean {
    return this.isInFile(setting) && !isSame(this.saved(setting), setting.standard);
  }

  /** True if the file differs from the values in use since the start. */
  waitsForStart(setting: Setting): boolean {
    if (this.read?.file === null) return false;
    return !isSame(valueAt(this.read?.config, setting.key), this.saved(setting));
  }

  isDirty(setting: Setting): boolean {
    return setting.key in this.drafts && !isSame(this.drafts[setting.key], this.saved(setting));
  }

  draft(setting: Setting, value: unknown): void {
    this.drafts = { ...this.drafts, [setting.key]: value };
  }

  discard(key: string): void {
    this.drafts = without(this.drafts, key);
    this.errors = without(this.errors, key);
  }

  /** Writes a value, or removes it from the file. Returns false if the host refused it, which is then shown at the setting. */
  async save(key: string, value: unknown): Promise<boolean> {
    const before = { value: valueAt(this.read?.file, key) };
    this.saving = key;
    try {
      await this.#client.op('config.set', { key, value: value ?? null });
      this.before = { ...this.before, [key]: before };
      await this.refresh();
      // Keeps text typed or chosen since then.
      if (isSame(this.drafts[key], value)) this.drafts = without(this.drafts, key);
      this.errors = without(this.errors, key);
      return true;
    } catch (cause) {
      this.errors = { ...this.errors, [key]: toOpFailure(cause).told };
      return false;
    } finally {
      this.saving = null;
    }
  }

  async undo(key: string): Promise<void> {
    const before = this.before[key];
    if (before !== undefined && (await this.save(key, before.value))) this.before = without(this.before, key);
  }
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}
