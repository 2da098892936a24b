// The one way an operation changes config.yaml: the file, what is used from now on, and the record of it.

import { systemSessionId } from '../../contracts/events.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { writeSettings, type Setting } from '../../store/config/config.ts';
import type { OpsDeps } from './deps.ts';

type Deps = Pick<OpsDeps, 'config' | 'takeSettings' | 'log'>;

/** `key` is a dotted path; null removes it. Fails with invalid_config, and then changes nothing. */
export async function changeSetting(deps: Deps, key: string, value: unknown, by: string): Promise<OpResult<'config.set'>> {
  const { warnings, holds, path } = await changeSettings(deps, [{ key, value }], by);
  return { key, path, warnings, holds };
}

/** All of them in one write. Fails with invalid_config, and then changes nothing. */
export async function changeSettings(deps: Deps, settings: readonly Setting[], by: string): Promise<Omit<OpResult<'config.set'>, 'key'>> {
  const { path, warnings, config } = await writeSettings(deps.config.path, settings);
  const taken = settings.map(({ key }) => deps.takeSettings(key, config));
  const holds = taken.every((isTaken) => isTaken) ? 'now' : 'next-start';
  deps.log.append(systemSessionId, [{ type: 'config.changed', body: { keys: settings.map(({ key }) => key), by } }], true);
  return { path, warnings: [...warnings], holds };
}
