// The whole English catalogue at once, for the reference and for tests. The window loads it in three parts.

import { english as first } from './english.ts';
import { later } from './later.ts';
import { talk } from './talk.ts';

export const english = { ...first, ...talk, ...later } as const;
