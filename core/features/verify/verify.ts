// Verification: a second check of risky calls by the verifier that config.yaml names. Without `verify` in config.yaml there is none.

import type { VerifyConfig } from '../../contracts/features/verify.ts';
import { CortensorRouter } from '../../mind/llm/llm.ts';
import { defineBuiltInFeature, type Contribution, type Spine } from '../feature.ts';
import { verifyByCommand } from './by-command.ts';
import { verifyByCortensor } from './by-cortensor.ts';
import { verifyByModel } from './by-model.ts';
import { Verifier, type AskVerifier } from './verifier.ts';
import type { Config } from '../../contracts/config.ts';
import { unwell, well, type HealthSource } from '../../contracts/health.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'logger' | 'secrets' | 'asking' | 'programs' | 'redactDeep'>;

export const verify = defineBuiltInFeature({
  name: 'verify',
  create: ({ config, ...spine }: Taken): Contribution & { readonly gives: { readonly verifier: Verifier | null } } => {
    const settings = config.verify;
    // Without a verifier, no call waits for verification.
    if (settings === undefined) return { gives: { verifier: null } };
    const ask = askerOf(settings, config.providers, spine);
    const verifier = new Verifier({ ...spine, settings, ask });
    return { gives: { verifier }, checks: [verifierChecks(settings, config.providers)] };
  },
});

type Providers = Taken['config']['providers'];

function askerOf(settings: VerifyConfig, providers: Providers, { asking, programs, secrets, clock }: Omit<Taken, 'config'>): AskVerifier {
  const [kind, name] = splitKind(settings.by);
  if (kind === 'command') return verifyByCommand(settings.commands[name] ?? [], settings.timeoutMs, programs.ask);
  if (kind !== 'cortensor') return verifyByModel(asking, settings);
  const provider = providers[name];
  if (provider?.kind !== 'cortensor') return () => Promise.resolve({ refused: `There is no Cortensor provider "${name}" in config.yaml` });
  return verifyByCortensor(new CortensorRouter(name, provider, { secrets, clock }), settings);
}

/** Splits `command:name` and `cortensor:name`. Anything else is the name of a model, even if it contains a colon. */
export function splitKind(by: string): readonly [kind: 'command' | 'cortensor' | 'model', name: string] {
  if (by.startsWith('command:')) return ['command', by.slice('command:'.length)];
  return by.startsWith('cortensor:') ? ['cortensor', by.slice('cortensor:'.length)] : ['model', by];
}

/** The health check of the verifier: detects an unknown name before every call of the verified classes fails. */
function verifierChecks({ by, classes, whenUnavailable }: VerifyConfig, providers: Config['providers']): HealthSource {
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
