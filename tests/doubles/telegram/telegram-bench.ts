// For tests only: the Bot API double as a bench for the rules of every channel.

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
