// Telemetry: sends finished turns as OpenTelemetry spans to the receivers named in config.yaml. Reads the log at idle moments, so a turn
// pays nothing for it. Without a receiver, nothing is read.

import { counted } from '../../base/counted.ts';
import { createHash } from 'node:crypto';
import { AppError } from '../../contracts/errors.ts';
import type { telemetryOps } from '../../contracts/features/telemetry.ts';
import { unwell, warning, well, type Finding, type HealthSource } from '../../contracts/health.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { ExportQueue } from './export-queue.ts';
import { tracesJson, type Resource } from './otlp-json.ts';
import { langfuseReceiver, otlpReceiver, type Receiver } from './receiver.ts';
import { Sender } from './sender.ts';
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
    const handlers: Pick<OpHandlers, keyof typeof telemetryOps> = {
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
    };
    return {
      handlers,
      checks: senders.length === 0 ? [] : [checkOf(senders)],
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

function checkOf(senders: readonly Sender[]): HealthSource {
  return { check: () => senders.map(findingOf) };
}

function findingOf(sender: Sender): Finding {
  const { name, problem, refused, rejectedSpans, pending } = sender.state();
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
