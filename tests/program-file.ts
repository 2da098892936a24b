// The built command line, which tests start as a program. It loads one file instead of five hundred, so each start takes half as long, and
// it is the file that people run. Vitest builds it before the first test where it is stale.

import { fileURLToPath } from 'node:url';

export const cliFile = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

/** Arguments of Node for a program of the tests that imports the core: it gets the built library, which starts in a third of the time. */
export const onBuiltCore: readonly string[] = ['--import', new URL('built-core.mjs', import.meta.url).href];
