// A served runtime with many running process trees, a model that never stops calling tools, queued messages and pending approvals; then the
// stop, measured from outside.

import { readdirSync, readFileSync } from 'node:fs';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { OpName, OpParams, OpResult } from '../../core/contracts/ops.ts';
import { HttpClaw } from '../../core/doors/http/http.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { TestHome, type Serving } from './test-home.ts';

const TREES = 20;
const PROCESSES_PER_TREE = 3;

export interface PanicRound {
  readonly runningBefore: number;
  readonly status: OpResult<'panic.status'>;
  /** From sending the operation to its answer, as the caller sees it. */
  readonly tookMs: number;
  readonly survivors: number;
  readonly modelRequests: number;
}

export class PanicRig {
  readonly home = new TestHome();
  readonly model: ScriptedModel;
  #serving: Serving | null = null;
  #claw: HttpClaw | null = null;
  #round = 0;

  private constructor(model: ScriptedModel) {
    this.model = model;
  }

  static async start(): Promise<PanicRig> {
    let asked = 0;
    const model = await ScriptedModel.start([
      { user: 'write', results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'asked.md', content: 'x' } }] } },
      { user: 'hello', answer: { text: 'Hello.' } },
      { answer: () => ({ calls: [{ tool: 'calc', args: { expression: `${++asked} + 1` } }], firstDelayMs: 20 }) },
    ]);
    const rig = new PanicRig(model);
    const config: ConfigInput = { ...model.config('openai'), limits: { steps: 1000, sameCall: 100, parallelTurns: 60 } };
    rig.home.configure(config);
    await rig.restart('SIGTERM');
    return rig;
  }

  /** Ends the serving process with the signal, if it runs, and starts another. */
  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.#claw?.close();
    await this.#serving?.end(signal);
    this.#serving = await this.home.serve();
    this.#claw = new HttpClaw({ address: { port: Number(new URL(this.#serving.url).port) }, token: this.#serving.token });
  }

  op<N extends OpName>(name: N, params: OpParams<N>): Promise<OpResult<N>> {
    if (this.#claw === null) throw new Error('nothing is served');
    return this.#claw.op(name, params);
  }

  async dispose(): Promise<void> {
    await this.#claw?.close();
    await this.home.dispose();
    await this.model.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  /** Starts trees of three processes each: the shell's child, and a grandchild in a new process session, with a child. */
  async startTrees(): Promise<string> {
    this.#round += 1;
    const mark = `9${process.pid}${String(this.#round).padStart(4, '0')}`;
    const runs = Array.from({ length: TREES }, (_, n) => this.#startTree(`${mark}${String(n).padStart(2, '0')}`, n));
    await Promise.all(runs);
    await until(() => countProcesses(mark) >= TREES * PROCESSES_PER_TREE, 'all process trees run');
    return mark;
  }

  async #startTree(mark: string, n: number): Promise<void> {
    const command = `(setsid bash -c 'sleep ${mark}; true' >/dev/null 2>&1 &); sleep ${mark}; true`;
    const kind = n % 3 === 0 ? {} : n % 3 === 1 ? { background: true } : { background: true, pty: true };
    const started = await this.op('tool.run', { tool: 'exec', args: { command, ...kind }, wait: false });
    const approvalId = started.pending?.[0]?.approvalId ?? '';
    await this.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'once' } });
  }

  /** Starts an endless turn, two messages queued behind it, and a turn with a pending approval. */
  async startTurns(): Promise<{ endless: string; queued: readonly string[]; waiting: string; approvalId: string }> {
    const sessionId = `endless-${this.#round}`;
    const { turnId: endless } = await this.op('message.send', { text: 'go on for ever', sessionId });
    const queued = [
      (await this.op('message.send', { text: 'hello once', sessionId })).turnId,
      (await this.op('message.send', { text: 'hello twice', sessionId })).turnId,
    ];
    const { turnId: waiting } = await this.op('message.send', { text: 'write something' });
    const rest = await this.op('turn.wait', { turnId: waiting });
    return { endless, queued, waiting, approvalId: rest.pending?.[0]?.approvalId ?? '' };
  }

  async engage(mark: string): Promise<PanicRound> {
    const runningBefore = countProcesses(mark);
    const startedMs = performance.now();
    const status = await this.op('panic.engage', { reason: 'the suite' });
    const tookMs = performance.now() - startedMs;
    return { runningBefore, status, tookMs, survivors: countProcesses(mark), modelRequests: this.model.requests.length };
  }
}

/** Counts processes whose command line contains the mark; a zombie has no command line. */
export function countProcesses(mark: string): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark);
    } catch {
      // The process ended between the listing and the read.
      return false;
    }
  }).length;
}
