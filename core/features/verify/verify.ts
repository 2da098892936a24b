// Verification: a second check of risky calls by what config.yaml names. Without `verify` in config.yaml there is none.

import type { VerifyConfig } from '../../contracts/features/verify.ts';
import type { AskingDeps } from '../../mind/asking/asking.ts';
import { CortensorRouter } from '../../mind/llm/llm.ts';
import { defineFeature, type Spine } from '../feature.ts';
import { verifyByCommand, type ProgramRunner } from './by-command.ts';
import { verifyByCortensor } from './by-cortensor.ts';
import { verifyByModel } from './by-model.ts';
import { verifierChecks } from './checks.ts';
import { Verifier, type AskVerifier } from './verifier.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'logger' | 'secrets'>;

interface Others {
  readonly asking: AskingDeps;
  readonly run: ProgramRunner;
  /** Takes secrets out of every string. */
  readonly redactDeep: <T>(value: T) => T;
}

export const verify = defineFeature({
  name: 'verify',
  migrations: [],
  rows: () => null,
  create: ({ config, ...spine }: Taken, _rows: null, others: Others) => {
    const settings = config.verify;
    // Where there is none, no call waits for one.
    if (settings === undefined) return { port: null };
    const ask = askerOf(settings, config.providers, { ...spine, ...others });
    const port = new Verifier({ ...spine, settings, ask, redactDeep: others.redactDeep });
    return { port, checks: [verifierChecks(settings, config.providers)] };
  },
});

type Providers = Taken['config']['providers'];

function askerOf(
  settings: VerifyConfig,
  providers: Providers,
  { asking, run, secrets, clock }: Omit<Taken, 'config'> & Others,
): AskVerifier {
  const [kind, name] = splitKind(settings.by);
  if (kind === 'command') return verifyByCommand(settings.commands[name] ?? [], settings.timeoutMs, run);
  if (kind !== 'cortensor') return verifyByModel(asking, settings);
  const provider = providers[name];
  if (provider?.kind !== 'cortensor') return () => Promise.resolve({ refused: `There is no Cortensor provider "${name}" in config.yaml` });
  return verifyByCortensor(new CortensorRouter(name, provider, { secrets, clock }), settings);
}

/** `command:name` and `cortensor:name`; a model is neither, whatever its name holds. */
export function splitKind(by: string): readonly [kind: 'command' | 'cortensor' | 'model', name: string] {
  if (by.startsWith('command:')) return ['command', by.slice('command:'.length)];
  return by.startsWith('cortensor:') ? ['cortensor', by.slice('cortensor:'.length)] : ['model', by];
}
