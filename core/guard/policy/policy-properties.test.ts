// Properties of the gate for any input: random calls, grants, rules and untrusted content.

import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { ConfigInput } from '../../contracts/config.ts';
import type { Grant } from '../../contracts/policy.ts';
import { graveKind } from '../../contracts/grave-calls.ts';
import { toolClasses, type CallFacts, type TaintSource } from '../../contracts/tools.ts';
import { taintKey } from './call-taint.ts';
import { bindings, facts, fetchFrom, npmTest, path, plainCommand, PolicyBench, type Asked } from '../../../tests/rigs/policy-bench.ts';

const paths = fc
  .record({
    real: fc.constantFrom('/ws/a', '/ws/notes/a', '/ws/notes/b', '/ws/.env', '/etc/x', '/opened/a'),
    access: fc.constantFrom('read' as const, 'write' as const),
  })
  .map(({ real, access }) => path(real, { access, protectedBy: real.endsWith('.env') ? 'keys are kept there' : null }));

const commands = fc.constantFrom(
  npmTest('1').command,
  npmTest('2').command,
  plainCommand('ls', { reads: 'lists files', family: ['ls'], bindings: bindings() }).command,
  plainCommand('rm -r x').command,
  { line: 'a; b', cwd: '/ws', unclear: 'it is more than one command' },
);

const listing = plainCommand('ls', { reads: 'lists files', family: ['ls'], bindings: bindings() });
const look = facts('read', [path('/ws/a', { access: 'read' })]);

const anyFacts: fc.Arbitrary<CallFacts> = fc.oneof(
  fc.record({
    class: fc.constantFrom(...toolClasses),
    paths: fc.array(paths, { maxLength: 2 }),
    command: fc.option(commands),
    hosts: fc.subarray(['a.example', 'b.example']),
  }),
  fc.constantFrom(npmTest('1'), npmTest('2'), fetchFrom('a.example'), fetchFrom('b.example'), listing, look),
);

const sources: readonly TaintSource[] = [
  { kind: 'web', where: 'a.example' },
  { kind: 'file', where: '/tmp/x' },
];
const anyTaint = fc
  .record({ session: fc.subarray([...sources]), derived: fc.subarray([...sources]), sensitive: fc.boolean() })
  .map((taint) => ({ ...taint, session: [...new Set([...taint.session, ...taint.derived])] }));

const anyAsked: fc.Arbitrary<Asked> = fc.record({
  tool: fc.constantFrom('put', 'exec'),
  argsHash: fc.constantFrom('h', 'i'),
  sessionId: fc.constantFrom('s1', 's2'),
  taint: anyTaint,
  channel: fc.constantFrom('cli', 'telegram'),
});

const anyScope = fc.constantFrom(
  { kind: 'once' as const },
  { kind: 'minutes' as const, minutes: 5 },
  { kind: 'session' as const },
  { kind: 'always' as const },
);

const anyPolicy: fc.Arbitrary<NonNullable<ConfigInput['policy']>> = fc.record({
  mode: fc.constantFrom('supervised' as const, 'workspace-free' as const),
  allowCommands: fc.subarray(['npm test', 'ls']),
  allowDomains: fc.subarray(['a.example']),
  rules: fc.array(
    fc.record({
      when: fc.constantFrom(
        { tools: ['put'] },
        { classes: ['write' as const] },
        { commands: ['npm'] },
        { paths: ['notes'] },
        { hosts: ['b.example'] },
      ),
      then: fc.constantFrom('allow' as const, 'ask' as const),
    }),
    { maxLength: 2 },
  ),
});

/** A grave call can be approved only once. */
const anyStep = fc
  .record({ given: anyFacts, asked: anyAsked, scope: anyScope, choice: fc.constantFrom(0, 1) })
  .map((step) => (graveKind(step.given) === null ? step : { ...step, scope: { kind: 'once' as const } }));
const steps = fc.array(anyStep, { minLength: 1, maxLength: 6 });

/** Mostly a call that something was granted for, so that grants are exercised. */
const anyCall = fc.record({ other: anyFacts, asked: anyAsked, like: fc.constantFrom(0, 0, 0, 1, 2, null), sameWords: fc.boolean() });

function callOf(
  given: readonly { given: CallFacts; asked: Asked }[],
  call: { other: CallFacts; asked: Asked; like: number | null; sameWords: boolean },
) {
  const like = call.like === null ? undefined : given[call.like];
  return {
    wanted: like?.given ?? call.other,
    asked: { ...(like?.asked ?? call.asked), ...(call.sameWords ? {} : { taint: call.asked.taint }) } as Asked,
  };
}

function expectCovered(ruleId: string, grant: Grant | undefined, wanted: CallFacts, asked: Asked): void {
  expect(wanted.paths.filter(({ protectedBy }) => protectedBy !== null)).toEqual([]);
  const isFreeRead = ruleId === 'read.workspace' || ruleId === 'command.reads';
  const derived = isFreeRead ? [] : (asked.taint?.derived ?? []);
  expect(derived.map(taintKey).filter((key) => !(grant?.seenTaint ?? []).includes(key))).toEqual([]);
  if (grant !== undefined && ruleId.startsWith('grant.') && graveKind(wanted) !== null) expect(grant.scope.kind).toBe('once');
  if (ruleId === 'grant.session' || ruleId === 'grant.once') expect(grant?.sessionId).toBe(asked.sessionId);
  if (grant?.bindings !== undefined) expect(wanted.command?.plain?.bindings).toEqual(grant.bindings);
}

test('no grant covers protected places, unseen sources, other bindings or sessions', () => {
  const bench = new PolicyBench();
  onTestFinished(() => bench.dispose());
  const cases = { allowed: 0, byGrant: 0 };
  fc.assert(
    fc.property(anyPolicy, steps, anyCall, (policy, given, call) => {
      const { wanted, asked } = callOf(given, call);
      expect(() =>
        bench.log.transact(() => {
          const gate = bench.gateWith(policy);
          for (const step of given) {
            const request = bench.request(step.given, step.asked);
            const approval = gate.createApproval(request, gate.authorize({ ...request, dispatch: { grantId: null } }));
            const choice = Math.min(step.choice, Math.max(0, (approval.choices?.length ?? 1) - 1));
            bench.approve(approval, step.scope, step.asked.argsHash, choice);
          }
          const decided = gate.authorize(bench.request(wanted, asked));
          if (decided.decision === 'allow') {
            const grant = bench.store.grants(true, 0).find(({ grantId }) => grantId === decided.grantId);
            cases.allowed += 1;
            if (decided.ruleId.startsWith('grant.')) cases.byGrant += 1;
            expectCovered(decided.ruleId, grant, wanted, asked);
          }
          throw new Error('rolled back');
        }),
      ).toThrow('rolled back');
    }),
    { numRuns: 500, seed: 7 },
  );
  // Grants must actually have allowed some of the calls.
  expect(cases.byGrant).toBeGreaterThan(50);
  expect(cases.allowed).toBeGreaterThan(cases.byGrant);
});

test('locked down never asks and allows no change, whatever was granted before', () => {
  const bench = new PolicyBench();
  onTestFinished(() => bench.dispose());
  let allowed = 0;
  fc.assert(
    fc.property(anyPolicy, steps, anyFacts, anyAsked, (policy, given, wanted, asked) => {
      for (const step of given.slice(0, 2)) bench.allow(step.given, step.scope, step.asked);
      const decided = bench.gateWith({ ...policy, mode: 'locked-down' }).authorize(bench.request(wanted, asked));
      if (decided.decision === 'allow') {
        allowed += 1;
        expect(['read.workspace', 'command.reads']).toContain(decided.ruleId);
        expect(wanted.paths.filter(({ access, insideWorkspace }) => access === 'write' || !insideWorkspace)).toEqual([]);
        expect(wanted.hosts).toEqual([]);
      } else expect(decided).toMatchObject({ decision: 'deny', grantable: false });
    }),
    { numRuns: 200, seed: 8 },
  );
  expect(allowed).toBeGreaterThan(3);
});

test('a denial overrides everything', () => {
  const bench = new PolicyBench();
  onTestFinished(() => bench.dispose());
  fc.assert(
    fc.property(anyPolicy, steps, anyFacts, anyAsked, (policy, given, wanted, asked) => {
      for (const step of given.slice(0, 2)) bench.allow(step.given, step.scope, step.asked);
      const deny = { when: { agents: ['main'] }, then: 'deny' as const };
      const byRule = bench.gateWith({ ...policy, rules: [deny, ...(policy.rules ?? [])] }).authorize(bench.request(wanted, asked));
      const byTool = bench.gateWith({ ...policy, denyTools: ['put', 'exec'] }).authorize(bench.request(wanted, asked));
      expect([byRule.decision, byTool.decision, byTool.ruleId]).toEqual(['deny', 'deny', 'tool.denied']);
    }),
    { numRuns: 200, seed: 9 },
  );
});
