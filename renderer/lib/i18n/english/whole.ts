// The whole English catalogue at once, for the reference and for tests. The window loads it in two parts.

import { english as first } from './english.ts';
import { later } from './later.ts';

export const english = { ...first, ...later } as const;
