// A watcher of a turn with quick steps: the end of one reply is known before the text of the next one arrives.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTrayClaw } from '../../core/index.ts';

test('a reply is recorded as finished before the text of the next reply streams', async () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-watch-'));
  const claw = await createTrayClaw({ home, config: { models: { default: 'demo/offline' } } });
  const streamed: string[] = [];
  const recorded: string[] = [];
  let open = '';
  const over = new AbortController();
  const stopDeltas = claw.onDelta((delta) => {
    if (delta.kind === 'text') open += delta.text;
  });
  const events = claw.events({ after: 'latest', signal: over.signal });
  const watching = (async () => {
    for await (const event of events) {
      if (event.type === 'model.finished') {
        streamed.push(open);
        recorded.push(event.body.text);
        open = '';
      }
      if (event.type === 'turn.finished') return;
    }
  })();
  try {
    await claw.ask('Calculate 2+2');
    await watching;
    expect(recorded).toHaveLength(2);
    expect(streamed).toEqual(recorded);
  } finally {
    over.abort();
    stopDeltas();
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  }
});
