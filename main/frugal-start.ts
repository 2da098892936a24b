// A quicker and smaller start; for the whole process, so not in the library, and before any schema is made.

import * as z from 'zod';

/**
 * Zod's checks are not compiled: a program that checks a few hundred values spends longer on compiling a check with its first value than it
 * ever saves, 60 ms of one question on the command line, and 5 MB. The space for new objects does not grow: what a start makes stays, and
 * would fill each larger space as well, 13 MB in the end.
 */
export function startFrugally(): void {
  z.config({ jitless: true });
  growNewSpaceBy(1);
}

/** For a program that stays: objects of a turn end with it, so the space for them may grow. */
export function growAgain(): void {
  growNewSpaceBy(2);
}

function growNewSpaceBy(factor: number): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
