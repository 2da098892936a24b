// The process that is killed while people write: a runtime with the loopback channel, whose other side is in files outside the data folder.
// Updates it has recorded are not offered again; each delivery is one line.

import { appendFileSync, existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeOptions } from '../../core/compose.ts';
import { AppError, createTrayClaw, type TrayClaw } from '../../core/index.ts';
import { LoopbackChannel } from '../doubles/loopback-channel.ts';
import { channelChildOptionsSchema, type ChannelReport } from './channel-protocol.ts';
import { Killer } from './killer.ts';
import { until } from '../until.ts';

const REPORTS_FD = 3;
const CHATS = 3;

function tell(report: ChannelReport): void {
  writeSync(REPORTS_FD, JSON.stringify(report) + '\n');
}

/** Waits until every message has its answer and no answer is left in the outbox. */
async function settled(claw: TrayClaw, turnIds: readonly string[], updates: number): Promise<void> {
  for (const turnId of turnIds) await claw.op('turn.wait', { turnId });
  await until(async () => (await claw.op('outbox.list', { all: true, limit: 1_000 })).items.length >= updates, 'all is answered');
  await until(async () => (await claw.op('outbox.list', { state: 'queued' })).items.length === 0, 'nothing is queued');
  await until(async () => (await claw.op('outbox.list', { state: 'sending' })).items.length === 0, 'nothing is on its way');
}

/** Offers a message again until it is accepted, as every channel does. */
async function take(text: string, about: { dedupeKey: string; chatId: string }): Promise<{ turnId: string }> {
  for (;;) {
    try {
      const receipt = channel.write(text, about);
      if (receipt.kind !== 'accepted') throw new Error(`${text} was ignored: ${receipt.reason}`);
      return receipt;
    } catch (cause) {
      if (!(cause instanceof AppError) || cause.code !== 'queue_full') throw cause;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

const options = channelChildOptionsSchema.parse(JSON.parse(process.argv[2] ?? ''));
const delivered = join(options.side, 'delivered.log');
const offsetFile = join(options.side, 'offset');
const killer = new Killer(options, (point) => {
  tell({ kind: 'dying', point });
});
const channel = new LoopbackChannel({
  send: (part) => {
    killer.reach('during-send');
    appendFileSync(delivered, `${part.idempotencyKey}\t${part.text}\n`);
    killer.reach('during-send');
    return { kind: 'sent', messageId: part.idempotencyKey };
  },
});
const runtime: RuntimeOptions = { home: options.home, config: options.config, channels: [channel], faults: { crashPoints: killer } };
const claw = await createTrayClaw(runtime);
tell({ kind: 'open' });
const offset = existsSync(offsetFile) ? Number(readFileSync(offsetFile, 'utf8')) : 0;
const turnIds: string[] = [];
killer.isArmed = true;
for (let update = offset + 1; update <= options.updates; update++) {
  const chatId = String(update % CHATS);
  const receipt = await take(`job ${update}`, { dedupeKey: `1:${update}`, chatId });
  turnIds.push(receipt.turnId);
  killer.reach('before-offset');
  writeFileSync(offsetFile, String(update));
  // Some messages arrive while the previous one is handled, some after it.
  if (update % 2 === 0) await claw.op('turn.wait', { turnId: receipt.turnId });
}
await settled(claw, turnIds, options.updates);
tell({ kind: 'survived' });
await claw.close();
