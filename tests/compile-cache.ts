// Lets programs started by tests share their compiled code between starts: compiling is half the work of a start.

import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const compileCache = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'trayclaw-compiled') };
