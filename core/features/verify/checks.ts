// The health check of the verifier: detects an unknown name before every call of the verified classes fails.

import type { Config } from '../../contracts/config.ts';
import type { VerifyConfig } from '../../contracts/features/verify.ts';
import { unwell, well, type HealthSource } from '../../contracts/health.ts';

export function verifierChecks({ by, classes, whenUnavailable }: VerifyConfig, providers: Config['providers']): HealthSource {
  return {
    check: () => {
      const problem = problemOf(by, providers);
      if (problem === null) return [well('verifier', `${by} checks calls of ${classes.join(', ')}.`)];
      const then = whenUnavailable === 'deny' ? 'denied' : 'asked about';
      return [unwell('verifier', `${problem} Calls of ${classes.join(', ')} are ${then}.`, 'Correct verify.by in config.yaml.')];
    },
  };
}

function problemOf(by: string, providers: Config['providers']): string | null {
  if (by.startsWith('command:')) return null;
  const isRouter = by.startsWith('cortensor:');
  const name = isRouter ? by.slice('cortensor:'.length) : by.slice(0, by.indexOf('/'));
  const provider = providers[name];
  if (provider === undefined) return `verify.by names the provider ${name}, which is not in config.yaml.`;
  return isRouter && provider.kind !== 'cortensor' ? `verify.by names ${name}, which is no Cortensor provider.` : null;
}
