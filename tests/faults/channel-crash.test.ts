// The program is killed while people write: at each named point of receiving and sending, and at random moments. Few kills in every run,
// many in the long one.

import { expect, onTestFinished, test } from 'vitest';
import { ChannelCrashRig, type ChannelRun } from './channel-crash-rig.ts';
import { soak } from '../soak.ts';

const kills = soak(6, 200);

const places: readonly ChannelRun[] = [
  'outbound-sending',
  'during-send',
  'outbound-sent',
  'accepted',
  'before-offset',
  'after-effect',
].flatMap((point) =>
  (kills > 50 ? [1, 2, 3] : [1]).map((nth) => ({ point, nth, armedFromStart: nth === 1 && point.startsWith('outbound') })),
);

/** The same moments in every run. */
function momentOf(kill: number): number {
  return (kill * 137) % 1_500;
}

test(
  'no message is lost or answered twice; an unknown outcome is shown',
  async () => {
    const rig = await ChannelCrashRig.start();
    onTestFinished(() => rig.dispose());
    for (const run of places) await rig.run(run);
    for (let kill = 1; rig.tally.kills < kills && kill < kills * 2; kill++) {
      await rig.run({ point: null, nth: 0, killAfterMs: momentOf(kill) });
    }
    await rig.run({ point: null, nth: 0 });
    const tally = await rig.check();
    if (kills > 50) process.stderr.write(`${JSON.stringify({ ...tally, lost: tally.lost.length, twice: tally.twice.length })}\n`);
    expect(tally).toMatchObject({ lost: [], twice: [], faults: [] });
    expect(tally.kills).toBeGreaterThanOrEqual(Math.min(kills, places.length));
    // A part that was being sent when the program died is uncertain, and nothing else is.
    expect(tally.uncertain).toBeGreaterThan(0);
    expect(tally.uncertain).toBeLessThanOrEqual(tally.kills);
  },
  Math.max(120_000, kills * 10_000),
);

test('the counts detect what they are meant to detect', async () => {
  const rig = await ChannelCrashRig.start();
  onTestFinished(() => rig.dispose());
  await rig.run({ point: null, nth: 0 });
  rig.arriveAgain(2);
  rig.forget(3);
  expect(await rig.check()).toMatchObject({
    kills: 0,
    uncertain: 0,
    faults: [],
    twice: ['the answer to 2 arrived 2 times'],
    lost: ['the answer to 3 is sent'],
  });
}, 60_000);
