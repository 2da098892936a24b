// Zod's checks without compiled code. A program that checks a few hundred values spends longer on compiling a check with its first value than
// it ever saves: 60 ms of one question on the command line, and 5 MB.

import * as z from 'zod';

/** For the whole process, so not in the library; before any schema is made. */
export function checkWithoutCompiling(): void {
  z.config({ jitless: true });
}
