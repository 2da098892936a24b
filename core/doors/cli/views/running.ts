// The view of running work.

import type { OpResult } from '../../../contracts/ops.ts';
import type { ViewsOf } from '../kernel/view.ts';
import { table, when } from '../table.ts';

export const runningViews: ViewsOf<'running'> = {
  'running.list': { show: (atWork, { program }) => [describeTurns(atWork), ...describeCommands(atWork, program)].join('\n\n') },
  'running.stop': {
    show: ({ stopped }, { params: { commandId }, program }) =>
      stopped ? `Stopped ${commandId}.` : `No command ${commandId} is in the background. See: ${program} running list`,
  },
};

function describeTurns({ turns }: OpResult<'running.list'>): string {
  const rows = turns.map(({ turnId, status, sinceMs, title, calls }) => [
    turnId,
    status,
    when(sinceMs),
    title,
    calls.map(({ tool }) => tool).join(', ') || '-',
  ]);
  return table(['TURN', 'STATUS', 'SINCE', 'SESSION', 'CALLS'], rows, 'No turn is at work.');
}

function describeCommands({ commands }: OpResult<'running.list'>, program: string): string[] {
  if (commands.length === 0) return [];
  const rows = commands.map(({ commandId, sinceMs, sessionId, command }) => [commandId, when(sinceMs), sessionId, command]);
  return [
    table(['COMMAND IN THE BACKGROUND', 'SINCE', 'SESSION', 'LINE'], rows, ''),
    `To follow one: ${program} tool exec '{"action":"poll","sessionId":"COMMAND"}' --session SESSION\nTo end one: ${program} running stop COMMAND`,
  ];
}
