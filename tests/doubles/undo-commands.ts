// For tests only: commands that show and undo changes, and those that show running work, each with its operation and output.

import { expect } from 'vitest';
import type { OpName } from '../../core/contracts/ops.ts';

export const undoCommands: readonly { argv: string[]; op: OpName; params: unknown; json: unknown; code?: number }[] = [
  { argv: ['undo'], op: 'checkpoint.list', params: { limit: 50 }, json: [] },
  {
    argv: ['undo', 'trn_1', '--preview', '--force'],
    op: 'checkpoint.preview',
    params: { turnId: 'trn_1', force: true },
    json: { callIds: ['call_1'], files: [] },
  },
  {
    argv: ['undo', 'call_1', '--keep-going'],
    op: 'checkpoint.restore',
    params: { callId: 'call_1', keepGoing: true },
    json: expect.objectContaining({ restored: [{ path: '/ws/a' }], refused: [{ path: '/ws/b', reason: 'It was changed since.' }] }),
    code: 1,
  },
  {
    argv: ['undo', 'trn_1', '--file', '/ws/a', '--part', '1', '--part', '3', '--seen', 'v1'],
    op: 'checkpoint.undo',
    params: { turnId: 'trn_1', path: '/ws/a', hunks: [0, 2], version: 'v1' },
    json: expect.objectContaining({ restored: [{ path: '/ws/a' }] }),
  },
  { argv: ['undo', 'ses_1'], op: 'checkpoint.undo', params: { sessionId: 'ses_1' }, json: expect.objectContaining({ refused: [] }) },
  { argv: ['review', 'trn_1'], op: 'checkpoint.review', params: { turnId: 'trn_1' }, json: [expect.objectContaining({ version: 'v1' })] },
  { argv: ['review', 'ses_1'], op: 'checkpoint.review', params: { sessionId: 'ses_1' }, json: [expect.anything()] },
  { argv: ['running', 'list'], op: 'running.list', params: {}, json: { turns: [expect.anything()], commands: [expect.anything()] } },
  { argv: ['running', 'stop', 'cmd_1'], op: 'running.stop', params: { commandId: 'cmd_1' }, json: { stopped: true } },
];
