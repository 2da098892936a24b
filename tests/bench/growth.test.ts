// A turn late in a session must cost the same as an early one. Checked without a clock, by the bytes a turn records and allocates.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { laneUrl, startModelServer, type ModelServer } from './model-server/model-server.ts';
import type { GrowthJob, GrowthWindow } from './workers/growth-worker.ts';
import { runWorker } from './workers/worker.ts';

const EARLY = 20;
const LATE = 300;

let server: ModelServer;

beforeAll(async () => {
  server = await startModelServer();
});

afterAll(() => server.close());

test('a turn records and allocates no more at turn 300 than at turn 20', async () => {
  const baseUrl = laneUrl(server.origin, 'growth', { toolCalls: 1, tool: 'list_dir' });
  const job: GrowthJob = { baseUrl, marks: [EARLY, LATE], windowTurns: 10 };

  const [early, late] = await runWorker<GrowthJob, GrowthWindow[]>('growth-worker.ts', job);

  expect(late?.types).toEqual(early?.types);
  expect(early?.types).toContain('tool.finished');
  // Numbers have more digits later in the session; nothing else may differ.
  expect(Number(late?.recordedBytes) / Number(early?.recordedBytes)).toBeLessThan(1.05);
  expect(Number(late?.allocatedBytes) / Number(early?.allocatedBytes)).toBeLessThan(1.3);
});
