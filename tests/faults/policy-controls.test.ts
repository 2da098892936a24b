// Negative controls of the gate's rules, through the whole runtime: each attempt is stopped; with only that rule disabled, the same attempt
// succeeds and is reported.

import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { noTaint, ownDataProtection, type CallFacts, type CallTaint, type PathFact } from '../../core/contracts/tools.ts';
import { PolicyGate } from '../../core/guard/policy/policy.ts';
import { configSchema } from '../../core/contracts/config.ts';
import { defineTool, type ToolDefinition, type TrayClaw } from '../../core/index.ts';
import type { TurnDeps } from '../../core/runtime/turns/turns.ts';
import { TestHome } from './test-home.ts';

let home: TestHome;

beforeEach(() => {
  home = new TestHome();
});
afterEach(() => home.dispose());

type Judged = Parameters<PolicyGate['authorize']>[0];

interface Attempt {
  readonly policy?: NonNullable<ConfigInput['policy']>;
  /** Calls that a person has allowed until revoked, or that need no approval. */
  readonly before: readonly { readonly facts: CallFacts; readonly taint?: CallTaint }[];
  readonly facts: CallFacts;
  readonly taint?: CallTaint;
  /** Hides facts from the rule. */
  readonly blind?: (call: Judged) => Judged;
  /** Replaces parts of the gate, for rules that are not about the call. */
  readonly replaced?: (parts: TurnDeps) => Partial<PolicyGate>;
}

/** Runs the attempt and reports what should not have run. */
async function check(attempt: Attempt, isBlind: boolean): Promise<string[]> {
  const now = { facts: attempt.facts, taint: noTaint, isAttempt: false };
  const reports: string[] = [];
  const tool: ToolDefinition = defineTool({
    name: 'act',
    description: 'An effect of a test.',
    input: z.strictObject({}),
    class: 'exec',
    idempotency: () => 'unsafe',
    facts: () => now.facts,
    summarize: () => 'act',
    run: () => {
      if (now.isAttempt) reports.push('it ran');
      return Promise.resolve({ forModel: 'done' });
    },
  });
  const replaceParts = (real: TurnDeps): TurnDeps => {
    const taint = { isTainted: () => false, watch: () => null, marksOf: () => null, of: () => now.taint };
    if (!isBlind) return { ...real, taint };
    const gate = Object.create(real.gate) as PolicyGate;
    gate.toolRefusal = (origin) => real.gate.toolRefusal(origin);
    gate.createApproval = (request, decision) => real.gate.createApproval(request, decision);
    gate.authorize = (call) => real.gate.authorize(now.isAttempt ? (attempt.blind?.(call) ?? call) : call);
    return { ...real, taint, gate: Object.assign(gate, attempt.replaced?.(real)) };
  };
  const config = { models: { default: 'demo/offline' }, ...(attempt.policy === undefined ? {} : { policy: attempt.policy }) };
  const claw = await home.open({ config, tools: [tool], faults: { replaceParts } });
  for (const { facts, taint } of attempt.before) {
    Object.assign(now, { facts, taint: taint ?? noTaint });
    await allowed(claw);
  }
  Object.assign(now, { facts: attempt.facts, taint: attempt.taint ?? noTaint, isAttempt: true });
  await claw.op('tool.run', { tool: 'act', args: {}, sessionId: 'one', wait: false });
  await home.close(claw);
  return reports;
}

async function allowed(claw: TrayClaw): Promise<void> {
  const run = await claw.op('tool.run', { tool: 'act', args: {}, sessionId: 'one', wait: false });
  for (const { approvalId } of run.pending ?? [])
    await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'always' } });
  expect(await claw.op('turn.wait', { turnId: run.turnId })).toMatchObject({ status: 'done' });
}

const inside = (name: string, protectedBy: string | null = null): PathFact => {
  const real = join(home.workspace, name);
  return { given: name, real, access: 'write', insideWorkspace: true, protectedBy };
};
const write = (...paths: readonly PathFact[]): CallFacts => ({ class: 'write', paths: [...paths], command: null, hosts: [] });
const npmTest = (content: string): CallFacts => {
  const bindings = [{ kind: 'config' as const, name: join(home.workspace, 'package.json'), sha256: content }];
  const plain = { argv: ['npm', 'test'], reads: null, family: ['npm', 'test'], sayable: true, bindings };
  return { class: 'exec', paths: [], command: { line: 'npm test', cwd: home.workspace, plain }, hosts: [] };
};
const message: CallFacts = { class: 'message', paths: [], command: null, hosts: ['a.example'] };
const derived = [{ kind: 'web' as const, where: 'a.example' }];
const web: CallTaint = { session: derived, derived, sensitive: false };
const unprotected = (call: Judged): Judged => ({
  ...call,
  facts: { ...call.facts, paths: call.facts.paths.map((path) => ({ ...path, protectedBy: null })) },
});
const asBefore =
  (facts: () => CallFacts) =>
  (call: Judged): Judged => ({ ...call, facts: facts() });

const attempts: Readonly<Record<string, () => Attempt>> = {
  'own data is written by nobody': () => ({
    policy: { mode: 'workspace-free' },
    before: [],
    facts: write(inside('config.yaml', ownDataProtection)),
    blind: unprotected,
  }),
  'a protected place asks whatever was allowed': () => ({
    before: [{ facts: write(inside('notes/a')) }],
    facts: write(inside('notes/.env', 'keys are kept there')),
    blind: unprotected,
  }),
  'a grant covers what it says and no more': () => ({
    before: [{ facts: write(inside('notes/a')) }],
    facts: write(inside('other/a')),
    blind: asBefore(() => write(inside('notes/a'))),
  }),
  'a grant for a command is bound to what the command is made of': () => ({
    before: [{ facts: npmTest('1') }],
    facts: npmTest('2'),
    blind: asBefore(() => npmTest('1')),
  }),
  'a command of config.yaml is bound by its first use': () => ({
    policy: { allowCommands: ['npm test'] },
    before: [{ facts: npmTest('1') }],
    facts: npmTest('2'),
    blind: asBefore(() => npmTest('1')),
  }),
  'a grant covers no words it has not seen': () => ({
    before: [{ facts: write(inside('notes/a')) }],
    facts: write(inside('notes/b')),
    taint: web,
    blind: (call) => ({ ...call, taint: noTaint }),
  }),
  'untrusted words, private things and a way out together always ask': () => ({
    before: [{ facts: message, taint: web }],
    facts: message,
    taint: { ...web, sensitive: true },
    blind: (call) => ({ ...call, taint: { ...call.taint, sensitive: false } }),
  }),
  'there is a limit to what runs unasked in a minute': () => ({
    policy: { mode: 'workspace-free', limits: { callsPerMinute: { write: 2 } } },
    before: [{ facts: write(inside('a')) }, { facts: write(inside('b')) }],
    facts: write(inside('c')),
    replaced: () => ({ count: () => undefined }),
  }),
  'locked down, nothing changes': () => ({
    policy: { mode: 'locked-down', allowCommands: ['npm test'] },
    before: [],
    facts: npmTest('1'),
    replaced: ({ policy, clock, ids, panic }) => {
      const open = new PolicyGate({
        store: policy,
        clock,
        ids,
        panic,
        policy: configSchema.parse({ policy: { allowCommands: ['npm test'] } }).policy,
        workspace: home.workspace,
        extraFolders: [],
        domains: () => ({ covers: () => false }),
        entryWords: (entry) => entry.split(' '),
        confines: () => true,
      });
      return { authorize: (call) => open.authorize(call) };
    },
  }),
};

test.each(Object.keys(attempts))('%s', async (name) => {
  const attempt = attempts[name];
  if (attempt === undefined) throw new Error(`there is no attempt ${name}`);
  expect(await check(attempt(), false)).toEqual([]);
  await home.dispose();
  home = new TestHome();
  expect(await check(attempt(), true)).toEqual(['it ran']);
});
