// The built command line, which tests start as a program. It loads one file instead of five hundred, so each start takes half as long, and
// it is the file that people run. Vitest rebuilds it before the first test if it is stale.

import { fileURLToPath } from 'node:url';

export const cliFile = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

/** Node arguments for a test program that imports the core: it gets the built library, which starts in a third of the time. */
export const onBuiltCore: readonly string[] = ['--import', new URL('built-core.mjs', import.meta.url).href];
