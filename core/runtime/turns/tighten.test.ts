// Tightening never loosens a decision: tested for every decision of the gate and every replacement by a check.

import fc from 'fast-check';
import { expect, expectTypeOf, test } from 'vitest';
import type { GateDecision } from '../../guard/policy/policy.ts';
import type { Assessment } from './turns.ts';
import { tighten, type Tightening } from './tighten.ts';

const strictness = { allow: 0, ask: 1, deny: 2 } as const;
const facts = { class: 'exec' as const, paths: [], command: null, hosts: [] };
const grant = {
  grantId: 'grt_1',
  scope: { kind: 'always' },
  match: {
    kind: 'host',
    tool: 'x',
    host: 'example.org',
  },
  covers: '',
  sessionId: 's',
  approvalId: 'config',
  createdAtMs: 0,
  expiresAtMs: null,
  revokedAtMs: null,
  spentAtMs: null,
} as const;

const decisions = fc.record({
  decision: fc.constantFrom('allow', 'ask', 'deny'),
  ruleId: fc.string(),
  reason: fc.string(),
  grantId: fc.constantFrom(null, 'grt_1'),
  grantable: fc.boolean(),
  firstUse: fc.constantFrom(null, grant),
  class: fc.constant('exec' as const),
  facts: fc.constant(facts),
}) as fc.Arbitrary<GateDecision>;
const tightenings: fc.Arbitrary<Tightening | null> = fc.option(
  fc.record({ decision: fc.constantFrom('ask', 'deny'), ruleId: fc.string(), reason: fc.string() }),
);

test('a decision never becomes looser, and the stricter of the two applies', () => {
  fc.assert(
    fc.property(decisions, tightenings, (decision, to) => {
      const after = tighten(decision, to);
      const strictest = Math.max(strictness[decision.decision], to === null ? 0 : strictness[to.decision]);
      expect(strictness[after.decision]).toBe(strictest);
    }),
  );
});

test('no grant covers a call that a check wants asked or denied', () => {
  fc.assert(
    fc.property(decisions, tightenings, (decision, to) => {
      const after = tighten(decision, to);
      if (to === null || decision.decision === 'deny') expect(after).toEqual(decision);
      else expect([after.grantable, after.decision === 'allow']).toEqual([false, false]);
      if (decision.decision === 'allow' && to !== null) expect([after.grantId, after.firstUse]).toEqual([null, null]);
    }),
  );
});

test('the types cannot express allowing a call', () => {
  expectTypeOf<Tightening['decision']>().toEqualTypeOf<'ask' | 'deny'>();
  expectTypeOf<NonNullable<Assessment['tightening']>['decision']>().toEqualTypeOf<'ask' | 'deny'>();
  // @ts-expect-error -- a check may not allow
  const loosened: Tightening = { decision: 'allow', ruleId: 'x', reason: '' };
  expect(loosened.decision).toBe('allow');
});
