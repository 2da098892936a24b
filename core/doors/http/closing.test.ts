// Closing the server: idle connections do not delay it, and operations in flight are answered first.

import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { createHttpDoor } from './http.ts';

const token = 'T'.repeat(43);

test('a preopened connection does not delay closing, and an operation in flight ends', async () => {
  // With fake timers, a server that waits for its time limit would never close.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const claw = new FakeClaw({ 'safety.url': ({ url }) => answered.then(() => ({ decision: 'allow', reason: 'fine', url })) });
  const door = createHttpDoor({ claw, token, logger: silentLogger, clock: new ManualClock(), assetsFolder: null, version: '1.2.3' });
  const { url, port } = await door.listen({});
  const silent = connect(port, '127.0.0.1');
  await once(silent, 'connect');
  const asked = fetch(`${url}/api/ops/safety.url`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"url":"https://example.org/"}',
  });
  await vi.waitFor(() => expect(door.openRequests).toBe(1));
  const closed = door.close();
  await once(silent, 'close');
  answer();
  expect((await asked).status).toBe(200);
  await closed;
  await claw.close();
});
