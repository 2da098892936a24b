// The operations on running work. Reads the index of the log and the list of background commands; ends a command when a person asks.

import type { AnyEvent } from '../../contracts/events.ts';
import type { OpHandlers, OpResult } from '../../contracts/ops.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'background' | 'log' | 'safety'>;
type Turn = OpResult<'running.list'>['turns'][number];

/** Arguments are truncated here. More is not needed to identify a call. */
const argsCharsMax = 2_000;

export function createRunningOps({ background, log, safety }: Deps) {
  const titleOf = (sessionId: string): string => log.index.session(sessionId)?.title ?? '';
  return {
    'running.list': () => {
      const calls = runningCalls(log);
      return {
        turns: log.index.openTurns().map(({ turnId, sessionId, status, atMs }): Turn => {
          const session = log.index.session(sessionId);
          return {
            turnId,
            sessionId,
            title: session?.title ?? '',
            agentId: session?.agentId ?? '',
            channel: session?.channel ?? '',
            status: status === 'queued' || status === 'waiting' ? status : 'running',
            sinceMs: atMs,
            calls: calls.get(turnId) ?? [],
          };
        }),
        commands: background.list().map(({ id, command, sessionId, startedAtMs, output }) => ({
          commandId: id,
          command: safety.redact(command).text,
          sessionId,
          title: titleOf(sessionId),
          sinceMs: startedAtMs,
          output: safety.redact(output).text,
        })),
      };
    },
    'running.stop': async ({ commandId }) => ({ stopped: await background.stop(commandId) }),
  } satisfies Partial<OpHandlers>;
}

function runningCalls(log: Deps['log']): Map<string, Turn['calls']> {
  const open = log.index.openCalls().filter(({ state }) => state === 'requested');
  const byTurn = new Map<string, Turn['calls']>();
  for (const event of log.reads.at(open.map(({ requestedSeq }) => requestedSeq))) {
    if (!isRequest(event) || event.turnId === null) continue;
    const { callId, tool, args } = event.body;
    const calls = byTurn.get(event.turnId) ?? [];
    byTurn.set(event.turnId, [...calls, { callId, tool, args: args.length > argsCharsMax ? '' : args }]);
  }
  return byTurn;
}

function isRequest(event: AnyEvent): event is Extract<AnyEvent, { type: 'tool.requested' }> {
  return event.type === 'tool.requested';
}
