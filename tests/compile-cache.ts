// Lets the programs that tests start keep their compiled code between starts: half of the work of a start is compiling.

import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const compileCache = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'trayclaw-compiled') };
