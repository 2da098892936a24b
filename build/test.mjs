// `npm test [-- FILTER…]`, under the pinned Node.

import { runsOnPinnedNode } from './node24.mjs';

if (runsOnPinnedNode()) await import('./run-tests.ts');
