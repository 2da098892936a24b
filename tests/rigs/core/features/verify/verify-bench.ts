// For tests only: a verifier with one source of verdicts, and a call to verify.

import { systemClock } from '../../../../../core/base/clock.ts';
import { silentLogger } from '../../../../../core/base/logger.ts';
import { verifyConfigSchema, type VerifyConfig } from '../../../../../core/contracts/features/verify.ts';
import type { GateDecision, GateRequest } from '../../../../../core/guard/policy/policy.ts';
import type { VerifyPort } from '../../../../../core/runtime/turns/turns.ts';
import { Verifier, type AskVerifier } from '../../../../../core/features/verify/verifier.ts';

const facts = { class: 'spend' as const, paths: [], command: null, hosts: ['shop.example'] };

export const request: GateRequest = {
  sessionId: 's1',
  turnId: 'trn_1',
  callId: 'call_1',
  tool: 'pay',
  args: '{"usd":20}',
  argsHash: 'x',
  facts,
  origin: { channel: 'cli', agentId: 'main' },
  taint: { session: [], derived: [{ kind: 'web', where: 'shop.example' }], sensitive: false },
  summary: 'pay 20 US dollars',
};

const decision: GateDecision = {
  decision: 'ask',
  ruleId: 'ask.spend',
  reason: 'It spends money.',
  class: 'spend',
  facts,
  grantId: null,
  grantable: false,
  firstUse: null,
};

export const about: Parameters<VerifyPort['verify']>[0] = {
  request,
  decision,
  said: 'Buy the blue lamp for 20 dollars.',
  place: { sessionId: 's1', turnId: 'trn_1' },
};

export function settingsOf(given: Partial<VerifyConfig> = {}): VerifyConfig {
  const parsed = verifyConfigSchema.parse({ classes: ['spend'], by: 'lab/judge', ...given });
  if (parsed === undefined) throw new Error('there are no settings');
  return parsed;
}

export function createVerifier(ask: AskVerifier, settings: VerifyConfig = settingsOf()): Verifier {
  const redactDeep = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('sk-live-1', '[redacted:KEY]')) as T;
  return new Verifier({ settings, ask, clock: systemClock, logger: silentLogger, redactDeep });
}

export async function verdictOf(ask: AskVerifier, settings?: VerifyConfig): Promise<readonly [verdict: string, outcome: string]> {
  const { verdict, outcome } = await createVerifier(ask, settings).verify(about, new AbortController().signal);
  return [verdict, outcome];
}
