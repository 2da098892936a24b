// The whole English catalogue at once, for the reference and for tests. The window loads it in four parts.

import { commands } from './commands.ts';
import { english as first } from './english.ts';
import { later } from './later.ts';
import { talk } from './talk.ts';

export const english = { ...first, commands, ...talk, ...later } as const;
