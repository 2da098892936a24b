// The program is killed while Telegram is in use. Few kills in every run, many in the long one.

import { expect, onTestFinished, test } from 'vitest';
import { TelegramCrashRig } from './telegram-crash-rig.ts';
import { soak } from '../soak.ts';

const kills = soak(3, 200);

test(
  'kills at any moment lose no message and answer no message or approval twice',
  async () => {
    const rig = await TelegramCrashRig.start(Number(process.env['TRAYCLAW_TELEGRAM_SEED'] ?? 7));
    onTestFinished(() => rig.dispose());
    for (let at = 0; at < kills; at++) await rig.liveAndDie();
    const tally = await rig.settle();
    process.stdout.write(`telegram: ${JSON.stringify(tally)}\n`);
    expect(tally).toMatchObject({ kills, lost: [], twice: [], unanswered: [], decidedTwice: [], appliedTwice: [], appliedAnyway: [] });
    expect(tally).toMatchObject({ notApplied: [], commandsUnanswered: 0, commandsTwice: 0 });
    expect(tally.questions).toBeGreaterThan(0);
    expect(tally.approved + tally.denied).toBe(tally.questions);
  },
  180_000 + kills * 30_000,
);
