// Shared by the tests of the shell's parts: an approval, a status, a recording logger.

import type { Logger } from '../../core/base/logger.ts';
import type { Approval } from '../../core/contracts/policy.ts';
import type { DesktopStatus } from '../../main/desktop/desktop-status.ts';

export function approvalOf(changes: Partial<Approval> = {}): Approval {
  return {
    approvalId: 'apr_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    callId: 'call_1',
    tool: 'write',
    summary: 'Wants to write notes.md (3 bytes)',
    risk: 'It changes a file.',
    reason: 'No rule allows it.',
    ruleId: 'ask.write',
    facts: { class: 'write', paths: [], command: null, hosts: [] },
    args: '{"path":"notes.md","content":"abc"}',
    widerScope: 'write for files in notes/',
    createdAtMs: 1_750_000_000_000,
    sessionId: 'ses_1',
    state: 'pending',
    decidedAtMs: null,
    decidedBy: null,
    scope: null,
    ...changes,
  };
}

export function statusOf(changes: Partial<DesktopStatus> = {}): DesktopStatus {
  return { panic: { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null }, approvals: [], runningTurns: 0, ...changes };
}

export const stopped: DesktopStatus = statusOf({ panic: { engaged: true, sinceMs: 1, reason: 'Pressed.', killed: 2, tookMs: 9 } });

export class RecordingLogger implements Logger {
  readonly lines: string[] = [];

  log(level: string, message: string): void {
    this.lines.push(`${level}: ${message}`);
  }
}
