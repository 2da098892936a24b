// For tests only: the double of the Bot API as a bench of the rules of every channel.

import type { BenchPerson, ChannelBench } from '../../channels/conformance-rig.ts';
import { BotApiDouble } from './bot-api-double.ts';
import { Person } from './person.ts';
import { tokenVariable } from './telegram-rig.ts';

export async function startTelegramBench(): Promise<ChannelBench> {
  const double = await new BotApiDouble().start();
  let people = 40;
  return {
    channels: { telegram: { token: `env:${tokenVariable}`, apiRoot: double.apiRoot } },
    environment: { [tokenVariable]: double.token },
    person: (name) => personOf(new Person(double, { id: ++people, name })),
    cut: () => double.fault({ method: 'getUpdates', kind: 'cut-before', times: 2 }),
    stop: () => double.stop(),
    pairing: {
      offer: (claw) => claw.op('telegram.pair', {}),
      claimedBy: async (claw, pairingId) => {
        const { pairings } = await claw.op('telegram.list', {});
        return pairings.find((one) => one.pairingId === pairingId)?.claimedBy?.userId ?? null;
      },
      confirm: (claw, pairingId) => claw.op('telegram.confirm', { pairingId }),
      revoke: (claw, userId) => claw.op('telegram.revoke', { userId }),
      pause: (claw, isPaused) => claw.op(isPaused ? 'telegram.pause' : 'telegram.resume', {}),
      state: async (claw) => (await claw.op('telegram.status', {})).state,
    },
  };
}

function personOf(person: Person): BenchPerson {
  return {
    id: String(person.id),
    write: (text) => void person.write(text),
    sendFile: (name, content, text) => void person.sendDocument(name, Buffer.from(content), text),
    heard: () => person.heard(),
    answer: (choice) => Promise.resolve().then(() => void person.press(choice === 'yes' ? 'Approve once' : 'Deny')),
    choose: (value) => Promise.resolve().then(() => void person.press(value)),
  };
}
