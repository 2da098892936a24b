// The one way an operation changes config.yaml: the file, what is used from now on, and the record of it.

import { systemSessionId } from '../../contracts/events.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { writeSetting } from '../../store/config/config.ts';
import type { OpsDeps } from './deps.ts';

/** `key` is a dotted path; null removes it. Fails with invalid_config, and then changes nothing. */
export async function changeSetting(
  deps: Pick<OpsDeps, 'config' | 'takeSettings' | 'log'>,
  key: string,
  value: unknown,
  by: string,
): Promise<OpResult<'config.set'>> {
  const { path, warnings, config } = await writeSetting(deps.config.path, key, value);
  const holds = deps.takeSettings(key, config) ? 'now' : 'next-start';
  deps.log.append(systemSessionId, [{ type: 'config.changed', body: { keys: [key], by } }], true);
  return { key, path, warnings: [...warnings], holds };
}
