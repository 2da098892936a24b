// Approve X, run Y: the files of a command are changed after a person approved it. It needs another approval and does not run.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FaultHooks } from '../../core/compose.ts';
import { bindingsHash } from '../../core/guard/policy/policy.ts';
import type { PolicyGate, PolicyStore } from '../../core/guard/policy/policy.ts';
import type { TurnDeps } from '../../core/runtime/turns/turns.ts';
import type { ScriptedModel } from '../doubles/scripted-model.ts';
import { eachTest } from './home-and-model.ts';
import type { TestHome } from './test-home.ts';

let home: TestHome;
let model: ScriptedModel;
eachTest((made) => ({ home, model } = made));

interface Drift {
  readonly command: string;
  readonly cwd?: string;
  prepare?(place: Place): void;
  change(place: Place): void;
}

interface Place {
  readonly workspace: string;
  readonly environment: Record<string, string>;
  readonly write: (path: string, text: string, mode?: number) => void;
}

const says = (text: string): string => `#!/bin/sh\ntouch "$RAN_MARK"; echo ${text}\n`;

const drifts: Readonly<Record<string, Drift>> = {
  'the folder, by a link': {
    command: 'sh run.sh',
    cwd: 'folder',
    prepare: ({ write }) => (write('folder/run.sh', says('a')), write('other/run.sh', says('a'))),
    change: ({ workspace }) => {
      renameSync(join(workspace, 'folder'), join(workspace, 'was'));
      symlinkSync('other', join(workspace, 'folder'));
    },
  },
  'an operand that is a link': {
    command: 'sh link.sh',
    prepare: ({ workspace, write }) => {
      write('one.sh', says('a'));
      write('two.sh', says('a'));
      symlinkSync('one.sh', join(workspace, 'link.sh'));
    },
    change: ({ workspace }) => {
      rmSync(join(workspace, 'link.sh'));
      symlinkSync('two.sh', join(workspace, 'link.sh'));
    },
  },
  'the script': {
    command: 'sh run.sh',
    prepare: ({ write }) => write('run.sh', says('a')),
    change: ({ write }) => write('run.sh', says('b')),
  },
  'the program': {
    command: 'tool x',
    prepare: ({ write }) => write('tools/tool', says('a'), 0o755),
    change: ({ write }) => write('tools/tool', says('b'), 0o755),
  },
  'the environment': {
    command: 'tool x',
    prepare: ({ write }) => write('tools/tool', says('a'), 0o755),
    change: ({ environment }) => (environment['LC_ALL'] = 'other'),
  },
  'package.json': {
    command: 'npm test',
    prepare: ({ write }) => write('package.json', '{"scripts":{"test":"touch $RAN_MARK"}}'),
    change: ({ write }) => write('package.json', '{"scripts":{"test":"touch $RAN_MARK; true"}}'),
  },
  "the repository's settings": {
    command: 'git diff --cached',
    prepare: ({ workspace }) => execFileSync('git', ['init', '-q'], { cwd: workspace }),
    change: ({ workspace, environment }) => {
      execFileSync('git', ['config', 'core.fsmonitor', `touch ${environment['LC_MARK']};false`], { cwd: workspace });
    },
  },
};

async function runsAfter(drift: Drift, faults: FaultHooks, changes: boolean): Promise<{ ran: boolean; askedAgain: boolean }> {
  const mark = join(home.path, '..', 'RAN');
  rmSync(mark, { force: true });
  rmSync(home.workspace, { recursive: true, force: true });
  mkdirSync(home.workspace, { recursive: true });
  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(join(home.workspace, path, '..'), { recursive: true });
    writeFileSync(join(home.workspace, path), text.replaceAll('"$RAN_MARK"', mark).replaceAll('$RAN_MARK', mark), { mode });
  };
  const environment = { PATH: `${join(home.workspace, 'tools')}:${process.env['PATH'] ?? ''}`, HOME: home.workspace, LC_MARK: mark };
  const place = { workspace: home.workspace, environment, write };
  drift.prepare?.(place);
  const args = { command: drift.command, ...(drift.cwd === undefined ? {} : { cwd: drift.cwd }) };
  model.script([{ results: 0, answer: { calls: [{ tool: 'exec', args }] } }, { answer: { text: 'done' } }]);
  const claw = await home.open({ config: model.config('openai'), environment, faults });
  try {
    const asked = await claw.ask('run it');
    const [first] = asked.pending ?? [];
    if (first === undefined) throw new Error('nobody was asked');
    if (changes) drift.change(place);
    await claw.op('approval.decide', { approvalId: first.approvalId, decision: 'approve', scope: { kind: 'once' } });
    const end = await claw.op('turn.wait', { turnId: asked.turnId });
    const again = (end.pending ?? []).filter(({ approvalId }) => approvalId !== first.approvalId);
    return { ran: existsSync(mark), askedAgain: again.length > 0 };
  } finally {
    await home.close(claw);
  }
}

test.each(Object.keys(drifts))('%s changed after the approval: asked again, not run', async (name) => {
  const drift = drifts[name];
  if (drift === undefined) throw new Error(name);
  expect(await runsAfter(drift, {}, true)).toEqual({ ran: false, askedAgain: true });
  // Unchanged, it runs with that approval; unchanged git commands leave no mark.
  if (drift.command !== 'git diff --cached') expect(await runsAfter(drift, {}, false)).toEqual({ ran: true, askedAgain: false });
});

test('arguments that differ from the approved ones need approval despite any grant', async () => {
  const mark = join(home.path, '..', 'RAN');
  mkdirSync(home.workspace, { recursive: true });
  writeFileSync(join(home.workspace, 'run.sh'), `echo "$@" >> ${mark}\n`);
  const exec = (command: string) => ({ calls: [{ tool: 'exec', args: { command } }] });
  model.script([
    { results: 0, answer: exec('sh run.sh shown') },
    { results: 1, answer: exec("sh run.sh 'not shown'") },
    { answer: { text: 'done' } },
  ]);
  const claw = await home.open({ config: model.config('openai') });
  const asked = await claw.ask('run it');
  const approvalId = asked.pending?.[0]?.approvalId ?? '';
  await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'always' } });
  const end = await claw.op('turn.wait', { turnId: asked.turnId });
  expect(end.pending?.map(({ summary }) => summary)).toEqual(["Wants to run sh run.sh 'not shown'"]);
  expect(readFileSync(mark, 'utf8')).toBe('shown\n');
  await home.close(claw);
});

test('control: without the second check the changed script runs', async () => {
  const script = drifts['the script'];
  if (script === undefined) throw new Error('no drift');
  // The runtime takes the content shown in the approval for the current one, so only the tool's own check is left.
  const blind = ({ policy, tools, workspaces, gate }: TurnDeps): Partial<TurnDeps> => {
    const store = Object.create(policy) as PolicyStore;
    store.pendingApprovals = () => policy.pendingApprovals();
    store.grant = (id) => policy.grant(id);
    store.approval = (id) => {
      const approval = policy.approval(id);
      if (approval === null) return null;
      const parsed = tools.parse(approval.tool, approval.args);
      return parsed.ok ? { ...approval, facts: parsed.value.tool.facts(parsed.value.args, workspaces.contextOf(null)) } : approval;
    };
    const lenient = Object.create(gate) as PolicyGate;
    lenient.toolRefusal = (origin) => gate.toolRefusal(origin);
    lenient.createApproval = (request, decision) => gate.createApproval(request, decision);
    lenient.authorize = (request) => gate.authorize(request);
    return { policy: store, gate: lenient };
  };
  const hooks: FaultHooks = { replaceParts: (real) => ({ ...real, ...blind(real) }) };
  expect(await runsAfter(script, hooks, true)).toEqual({ ran: true, askedAgain: false });
});

test('a call allowed by a rule alone is judged again right before it runs', async () => {
  // In the workspace, because a command without approval runs in the sandbox if there is one.
  const mark = join(home.workspace, 'RAN');
  const check = async (isOnceEnough: boolean): Promise<boolean> => {
    rmSync(mark, { force: true });
    mkdirSync(home.workspace, { recursive: true });
    const file = join(home.workspace, 'run.sh');
    writeFileSync(file, `touch ${mark}\n`);
    model.script([{ results: 0, answer: { calls: [{ tool: 'exec', args: { command: 'sh run.sh' } }] } }, { answer: { text: 'done' } }]);
    const byRule = ({ gate }: TurnDeps): Partial<TurnDeps> => {
      const lenient = Object.create(gate) as PolicyGate;
      lenient.toolRefusal = (origin) => gate.toolRefusal(origin);
      let allowed: string | null = null;
      lenient.createApproval = (request, decision) => gate.createApproval(request, decision);
      lenient.authorize = (request) => {
        const made = bindingsHash(request.facts.command?.plain?.bindings ?? []);
        // Simulates a faster process: the script changes right after the check.
        if (allowed === null) writeFileSync(file, `touch ${mark} # other\n`);
        allowed ??= made;
        const asked = gate.authorize(request);
        return allowed === made || isOnceEnough ? { ...asked, decision: 'allow', ruleId: 'test.rule', grantId: null } : asked;
      };
      return { gate: lenient };
    };
    // Without an approval the sandbox would keep the mark from being created, so it is off.
    const config = { ...model.config('openai'), sandbox: { mode: 'off' as const } };
    const claw = await home.open({ config, faults: { replaceParts: (real) => ({ ...real, ...byRule(real) }) } });
    await claw.ask('run it');
    await home.close(claw);
    return existsSync(mark);
  };
  expect(await check(false)).toBe(false);
  expect(await check(true)).toBe(true);
});
