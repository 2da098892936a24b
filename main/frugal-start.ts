// Makes the start faster and smaller. Affects the whole process, so the library must not use it; must run before any schema is created.

import * as z from 'zod';

/** Follows no cycles. Zod's own memoizer does, and looks through every schema for them before its first use. */
const noMemory: z.core.$ZodMemoizer = { attach: () => undefined, guard: () => undefined, alloc: (_schema, _payload, empty) => empty };

/**
 * Disables the compilation of Zod's checks: a program that checks a few hundred values spends more time compiling (60 ms of a single
 * command-line question, and 5 MB) than it saves. Also stops V8's young generation from growing: objects created during the start survive,
 * and would fill each larger space too, 13 MB in the end.
 */
export function startFrugally(): void {
  // No schema of the program contains itself, so each ends a cycle in a value at its own depth.
  z.config({ jitless: true, memoizer: noMemory });
  growNewSpaceBy(1);
}

/** For long-running processes: most objects die at the end of a turn, so a larger young generation avoids promoting them. */
export function letYoungGenerationGrow(): void {
  growNewSpaceBy(2);
}

function growNewSpaceBy(factor: number): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
