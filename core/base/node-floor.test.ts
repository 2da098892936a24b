import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeOldNode, NODE_FLOOR } from './node-floor.ts';

test.each(['18.20.0', '20.19.0', '20.20.2', '22.0.0', '22.12.0', '22.13.1', '22.18.9', '9.99.99'])('Node %s is too old', (version) => {
  expect(describeOldNode(version)).toBe(`TrayClaw needs Node 22.19.0 or newer; this is ${version}.`);
});

test.each(['22.19.0', '22.19.1', '22.21.0', '24.0.0', '24.21.0', '25.0.0-nightly', '100.0.0'])('Node %s is new enough', (version) => {
  expect(describeOldNode(version)).toBeNull();
});

test('package.json requires the same Node', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { engines: { node: string } };
  expect(engines.node).toBe(`>=${NODE_FLOOR}`);
});
