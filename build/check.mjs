// `npm run check [-- NAME…]`, under the pinned Node.

import { runsOnPinnedNode } from './node24.mjs';

if (runsOnPinnedNode()) await import('./run-checks.ts');
