// The risk of a call without the sentences that its headline has already.

import { expect, test } from 'vitest';
import { notYetSaid } from './describe-call.ts';

test.each([
  ['It runs code straight from the network. It talks to the network.', 'Runs code straight from the network, and talks to the network', ''],
  ['It deletes folders. It talks to the network.', 'Deletes build, and talks to the network', 'It deletes folders.'],
  ['It can change files.', undefined, 'It can change files.'],
])('of "%s" below "%s" is left "%s"', (risk, headline, left) => {
  expect(notYetSaid(risk, headline)).toBe(left);
});
