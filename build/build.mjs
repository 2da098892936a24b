// `npm run build`, under the pinned Node.

import { runsOnPinnedNode } from './node24.mjs';

if (runsOnPinnedNode()) await import('./make-dist.ts');
