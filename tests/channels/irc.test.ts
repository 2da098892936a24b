// The example of a chat service outside the source tree: IRC in one file of examples/, over a real server.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Plugin } from '../../core/contracts/plugin.ts';
import { channelConformance } from './conformance.ts';
import { startIrcBench } from '../doubles/irc/irc-bench.ts';

const sample = new URL('../../examples/irc/irc.mjs', import.meta.url);

channelConformance(
  'irc',
  async () => {
    const { feature } = (await import(sample.href)) as { feature: Plugin };
    return startIrcBench(feature);
  },
  'ngircd',
);

test('the example stays small', () => {
  expect(readFileSync(sample, 'utf8').split('\n').length).toBeLessThanOrEqual(250);
});
