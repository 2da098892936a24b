// The built command line, which tests start as a program. It loads one file instead of five hundred, so each start takes half as long, and
// it is the file that people run. Vitest builds it before the first test where it is stale.

import { fileURLToPath } from 'node:url';

export const cliFile = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
