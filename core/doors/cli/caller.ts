// The caller of every operation that a command runs.

import type { Caller } from '../../contracts/ops.ts';

export const cliCaller: Caller = { channel: 'cli', actor: 'cli' };
