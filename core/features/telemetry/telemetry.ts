// Telemetry: sends finished turns as OpenTelemetry spans to the receivers named in config.yaml. Reads the log at idle moments, so a turn
// pays nothing for it. Without a receiver, nothing is read.

import { createHash } from 'node:crypto';
import { counted } from '../../base/counted.ts';
import { AppError } from '../../contracts/errors.ts';
import { type Finding, unwell, warning, well } from '../../contracts/health.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import type { PanicState } from '../../guard/panic/panic.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { ExportQueue, type Progress } from './export-queue.ts';
import { type Resource, tracesJson } from './otlp-json.ts';
import { langfuseReceiver, otlpReceiver, type Receiver } from './receiver.ts';
import { traceOfTurn } from './turn-spans.ts';

type Taken = Pick<Spine, 'home' | 'config' | 'log' | 'later' | 'panic' | 'secrets' | 'closing' | 'redactPrompt' | 'version'>;

export { ExportQueue } from './export-queue.ts';

export const telemetry = defineBuiltInFeature({
  name: 'telemetry',
  create: (spine: Taken) => {
    const { log, config, version, redactPrompt: redact } = spine;
    const resource: Resource = { version, instance: createHash('sha256').update(spine.home).digest('hex').slice(0, 16) };
    const senders = receiversOf(spine, resource).map(
      ([receiver, content]) => new Sender({ ...spine, queue: new ExportQueue({ log, receiver, options: { content, redact } }) }),
    );
    const handlers = {
      'telemetry.flush': async (_params, { signal }) => {
        if (senders.length === 0) {
          const hint = 'Set telemetry.otlp or telemetry.langfuse in config.yaml.';
          throw new AppError('conflict', 'No receiver of traces is set up.', { hint });
        }
        if (spine.panic.engaged)
          throw new AppError('panic_engaged', 'Everything is stopped by the panic stop. Nothing is sent, and nothing is lost.');
        const done = await Promise.all(senders.map((sender) => sender.flush(signal ?? spine.closing)));
        const problems = done.flatMap(({ problem }) => problem ?? []);
        return {
          sent: done.reduce((sum, { sent }) => sum + sent, 0),
          pending: done.reduce((sum, { pending }) => sum + pending, 0),
          problem: problems.length === 0 ? null : problems.join(' '),
        };
      },
      'telemetry.export': ({ turnId, content = false }) => {
        const row = log.index.turn(turnId);
        const trace = row === null ? null : traceOfTurn(log.reads.turn(row.sessionId, turnId, row.firstSeq), { content, redact });
        if (trace === null) throw new AppError('not_found', `There is no turn ${turnId} that has started.`);
        return tracesJson([trace], resource);
      },
    } satisfies Partial<OpHandlers>;
    return {
      handlers,
      checks: senders.length === 0 ? [] : [{ check: () => senders.map(findingOf) }],
      begin: () => {
        for (const sender of senders) sender.begin();
      },
      dispose: async () => {
        await Promise.all(senders.map((sender) => sender.dispose()));
      },
    };
    function receiversOf(parts: Taken, own: Resource): (readonly [Receiver, boolean])[] {
      const { otlp, langfuse } = config.telemetry;
      const deps = { resource: own, resolve: (reference: string) => parts.secrets.resolve(reference) };
      return [
        ...(otlp === undefined ? [] : [[otlpReceiver(otlp, deps), otlp.content] as const]),
        ...(langfuse === undefined ? [] : [[langfuseReceiver(langfuse, deps), langfuse.content] as const]),
      ];
    }
  },
});

function findingOf(sender: Sender): Finding {
  const { name, problem, refused, rejectedSpans, pending } = sender.state;
  const id = `telemetry.${name}`;
  const waits = counted(pending, 'turn waits', 'turns wait');
  if (problem !== null) return unwell(id, `Traces are not sent: ${problem} ${waits}; nothing is lost.`, 'trayclaw telemetry flush');
  if (refused > 0)
    return warning(
      id,
      `${counted(refused, 'turn was', 'turns were')} refused by the receiver for good.`,
      'trayclaw telemetry export TURN_ID',
    );
  if (rejectedSpans > 0) {
    const detail = `${counted(rejectedSpans, 'span was', 'spans were')} refused by the receiver for good.`;
    return warning(id, detail, 'trayclaw telemetry export last');
  }
  return well(id, pending === 0 ? 'Every finished turn was sent.' : `${waits} to be sent.`);
}

// Decides when a queue of traces is sent: every few seconds while it is not empty, with growing delays while the receiver fails, and not
// while the panic stop is engaged.

interface SenderDeps extends Pick<Spine, 'later' | 'closing'> {
  readonly queue: ExportQueue;
  readonly panic: Pick<PanicState, 'engaged'>;
}

const LOOK_MS = 5_000;
const WAIT_MAX_MS = 5 * 60_000;

class Sender {
  readonly #deps: SenderDeps;
  readonly #stopped = new AbortController();
  #cancel: (() => void) | null = null;
  #waitMs = LOOK_MS;
  /** The step in progress. There is only one at a time; a flush waits for it. */
  #running: Promise<unknown> = Promise.resolve();

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  begin(): void {
    this.#deps.queue.begin();
    this.#lookAfter(0);
  }

  get state() {
    const { queue } = this.#deps;
    return { ...queue.state, name: queue.name, pending: queue.pending() };
  }

  /** Sends everything pending, until the queue is empty or the receiver fails. */
  async flush(signal: AbortSignal): Promise<{ sent: number; pending: number; problem: string | null }> {
    const { queue } = this.#deps;
    queue.begin();
    const before = queue.state.sent;
    for (;;) {
      const progress = await this.#step(signal);
      if (progress.kind !== 'more' || signal.aborted) break;
    }
    return { sent: queue.state.sent - before, pending: queue.pending(), problem: queue.state.problem };
  }

  async dispose(): Promise<void> {
    this.#cancel?.();
    this.#stopped.abort();
    await this.#running;
  }

  #lookAfter(delayMs: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#cancel = this.#deps.later(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    if (this.#deps.panic.engaged) return this.#lookAfter(LOOK_MS);
    const progress = await this.#step(this.#deps.closing);
    if (progress.kind === 'failed') {
      this.#lookAfter(Math.max(this.#waitMs, progress.waitMs ?? 0));
      this.#waitMs = Math.min(WAIT_MAX_MS, this.#waitMs * 2);
      return;
    }
    this.#waitMs = LOOK_MS;
    this.#lookAfter(progress.kind === 'more' ? 0 : LOOK_MS);
  }

  #step(signal: AbortSignal): Promise<Progress> {
    const either = AbortSignal.any([signal, this.#stopped.signal]);
    const step = this.#running.then(() => this.#deps.queue.step(either));
    this.#running = step;
    return step;
  }
}
