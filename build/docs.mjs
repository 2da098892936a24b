// `npm run docs`: writes docs/reference from the tables of the code. tests/docs/reference.test.ts fails while a page is stale.

import { runsOnPinnedNode } from './node24.mjs';

if (runsOnPinnedNode()) {
  // A computed name: the generator reads core/, which the check `types` covers instead of the build scripts' types.
  const generator = new URL('reference/reference.ts', import.meta.url).href;
  /** @type {{ writeReference: () => Promise<readonly string[]> }} */
  const { writeReference } = await import(generator);
  const changed = await writeReference();
  process.stdout.write(changed.length === 0 ? 'docs/reference is up to date\n' : `wrote ${changed.join(', ')}\n`);
}
