// Settings at run time: the current values, the one function that changes config.yaml, and the sections that take effect immediately.
// Everything else takes effect at the next start.

import type { Config } from '../../contracts/config.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { writeSettings, type LoadedConfig, type Setting } from '../../store/config/config.ts';
import type { SessionLog } from '../../store/session/session.ts';

export interface SettingsDeps {
  readonly loaded: LoadedConfig;
  readonly log: SessionLog;
  /** True if the host program passed this instance's settings: changes to the file then apply at the next start. */
  readonly areHandedIn: boolean;
}

export class Settings {
  readonly #deps: SettingsDeps;
  readonly #users: { readonly sections: readonly string[]; readonly use: (config: Config) => void }[] = [];
  #config: Config;

  constructor(deps: SettingsDeps) {
    this.#deps = deps;
    this.#config = deps.loaded.config;
  }

  /** The current settings. */
  get config(): Config {
    return this.#config;
  }

  get path(): string {
    return this.#deps.loaded.path;
  }

  get warnings(): readonly string[] {
    return this.#deps.loaded.warnings;
  }

  /** Calls `use` with all settings whenever something at or below one of the dotted paths was set. */
  useAtOnce(sections: readonly string[], use: (config: Config) => void): void {
    this.#users.push({ sections, use });
  }

  /** `key` is a dotted path; null removes it. Fails with invalid_config, and then changes nothing. */
  async change(key: string, value: unknown, by: string): Promise<OpResult<'config.set'>> {
    const { warnings, holds, path } = await this.changeAll([{ key, value }], by);
    return { key, path, warnings, holds };
  }

  /** Applies all settings in one write. Fails with invalid_config, and then changes nothing. */
  async changeAll(settings: readonly Setting[], by: string): Promise<Omit<OpResult<'config.set'>, 'key'>> {
    const { path, warnings, config } = await writeSettings(this.path, settings);
    const taken = settings.map(({ key }) => this.#take(key, config));
    const holds = taken.every((isTaken) => isTaken) ? 'now' : 'next-start';
    this.#deps.log.append(systemSessionId, [{ type: 'config.changed', body: { keys: settings.map(({ key }) => key), by } }], true);
    return { path, warnings: [...warnings], holds };
  }

  #take(key: string, file: Config): boolean {
    if (this.#deps.areHandedIn) return false;
    const user = this.#users.find(({ sections }) => sections.some((section) => key === section || key.startsWith(`${section}.`)));
    if (user === undefined) return false;
    this.#config = user.sections.reduce((config, section) => replacePart(config, file, section.split('.')), this.#config);
    user.use(this.#config);
    return true;
  }
}

/** Returns a copy of `into` with the part at the path taken from `from`. */
function replacePart<T extends object>(into: T, from: T, [key, ...rest]: readonly string[]): T {
  if (key === undefined) return from;
  const name = key as keyof T;
  const part = rest.length === 0 ? from[name] : replacePart(into[name] as object, from[name] as object, rest);
  return { ...into, [name]: part };
}
