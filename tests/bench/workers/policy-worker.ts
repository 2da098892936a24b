// Measures the gate: one decision with many grants and rules to check, and `policy.explain` for a command of 200 characters as a door calls
// it. Imports the sources, because the bundle does not export the gate.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../core/base/clock.ts';
import { RandomIds } from '../../../core/base/ids.ts';
import { configSchema, type ConfigInput } from '../../../core/contracts/config.ts';
import type { Grant } from '../../../core/contracts/policy.ts';
import { noTaint, type CallFacts } from '../../../core/contracts/tools.ts';
import { PolicyGate, PolicyStore } from '../../../core/guard/policy/policy.ts';
import { literalWords } from '../../../core/guard/command/command.ts';
import { domainSets } from '../../../core/guard/safety/safety.ts';
import { createTrayClaw } from '../../../core/index.ts';
import { summarize, type Summary } from '../statistics.ts';
import { openLog } from './open-log.ts';
import { serveJob } from './worker.ts';

export interface PolicyJob {
  readonly grants: number;
  readonly rules: number;
  readonly repetitions: number;
}

/** Milliseconds. */
export interface PolicyFigures {
  readonly decision: Summary;
  readonly explain: Summary;
  readonly commandChars: number;
}

const command = `grep -n --color=never -e ${'needle'.repeat(20)} src/some/folder/of/the/project/file-that-is-named-for-the-thing.ts`.padEnd(
  200,
  'x',
);

const facts: CallFacts = {
  class: 'exec',
  paths: [{ given: '.', real: '/ws', access: 'read', insideWorkspace: true, protectedBy: null }],
  command: {
    line: command,
    cwd: '/ws',
    plain: {
      argv: command.split(' '),
      reads: null,
      family: ['grep'],
      sayable: true,
      bindings: [{ kind: 'program', name: '/usr/bin/grep', sha256: 'a' }],
    },
  },
  hosts: [],
};

await serveJob(measure);

async function measure(job: PolicyJob): Promise<PolicyFigures> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-bench-')));
  try {
    const decision = measureDecisions(join(folder, 'gate'), job);
    return { decision, explain: await measureExplain(join(folder, 'home'), job), commandChars: command.length };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function policyOf(rules: number): NonNullable<ConfigInput['policy']> {
  return {
    allowCommands: ['git status', 'npm test'],
    rules: Array.from({ length: rules }, (_, at) => ({
      when: { tools: ['exec'], paths: [`folder-${at}/**/secret`] },
      then: 'deny' as const,
    })),
  };
}

function measureDecisions(home: string, { grants, rules, repetitions }: PolicyJob): Summary {
  mkdirSync(home);
  const { log, storage } = openLog(home);
  try {
    const store = new PolicyStore(storage.db);
    const ids = new RandomIds(() => systemClock.nowMs());
    for (let at = 0; at < grants; at++) log.append('system', [{ type: 'grant.created', body: { grant: grantFor(at) } }]);
    const gate = new PolicyGate({
      store,
      ids,
      clock: systemClock,
      panic: { engaged: false },
      policy: configSchema.parse({ policy: policyOf(rules) }).policy,
      workspace: '/ws',
      extraFolders: [],
      domains: domainSets,
      entryWords: literalWords,
      confines: () => true,
    });
    const request = { sessionId: 's', tool: 'exec', argsHash: 'h', facts, origin: { channel: 'cli', agentId: 'main' }, taint: noTaint };
    return time(repetitions, () => gate.authorize(request));
  } finally {
    storage.dispose();
  }
}

function grantFor(at: number): Grant {
  return {
    grantId: `grt_${at}`,
    scope: { kind: 'always' },
    match: { kind: 'family', tool: 'exec', family: ['grep'], cwd: '/ws', bindingsHash: `${at}` },
    covers: 'grep',
    sessionId: 's',
    approvalId: 'apr_1',
    createdAtMs: at,
    expiresAtMs: null,
    revokedAtMs: null,
    spentAtMs: null,
  };
}

async function measureExplain(home: string, { rules, repetitions }: PolicyJob): Promise<Summary> {
  const claw = await createTrayClaw({ home, config: { models: { default: 'demo/offline' }, policy: policyOf(rules) } });
  try {
    const samples: number[] = [];
    for (let round = -Math.ceil(repetitions / 4); round < repetitions; round++) {
      const startedMs = performance.now();
      await claw.op('policy.explain', { tool: 'exec', args: { command } });
      if (round >= 0) samples.push(performance.now() - startedMs);
    }
    return summarize(samples);
  } finally {
    await claw.close();
  }
}

function time(repetitions: number, work: () => unknown): Summary {
  const samples: number[] = [];
  for (let round = -Math.ceil(repetitions / 4); round < repetitions; round++) {
    const startedMs = performance.now();
    work();
    if (round >= 0) samples.push(performance.now() - startedMs);
  }
  return summarize(samples);
}
