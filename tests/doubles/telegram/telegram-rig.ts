// For tests only: the whole program with a scripted model and a Telegram bot on the Bot API double, and people who talk to it.

import type { RuntimeOptions } from '../../../core/compose.ts';
import type { TrayClaw } from '../../../core/index.ts';
import type { ConfigInput } from '../../../core/contracts/config.ts';
import { until } from '../../until.ts';
import { TestHome } from '../../faults/test-home.ts';
import { ScriptedModel, type Rule } from '../scripted-model.ts';
import { BotApiDouble, type DoubleOptions } from './bot-api-double.ts';
import { Person } from './person.ts';

export interface TelegramRigOptions extends DoubleOptions {
  readonly rules?: readonly Rule[];
  readonly config?: Partial<ConfigInput>;
  readonly telegram?: Record<string, unknown>;
  readonly program?: Partial<RuntimeOptions>;
  /** Called before the program starts for the first time. */
  readonly before?: (home: TestHome) => void;
}

export const echo: Rule = { answer: ({ userText }) => ({ text: `You said: ${userText.slice(0, 40)}` }) };
export const tokenVariable = 'TEST_BOT_TOKEN';

export class TelegramRig {
  readonly double: BotApiDouble;
  readonly model: ScriptedModel;
  readonly home = new TestHome();
  readonly ada: Person;
  readonly #options: TelegramRigOptions;
  #claw: TrayClaw | null = null;

  private constructor(double: BotApiDouble, model: ScriptedModel, options: TelegramRigOptions) {
    this.double = double;
    this.model = model;
    this.#options = options;
    this.ada = new Person(double, { id: 42, name: 'Ada' });
    this.home.env[tokenVariable] = double.token;
  }

  static async start(options: TelegramRigOptions = {}): Promise<TelegramRig> {
    const double = await new BotApiDouble(options).start();
    const model = await ScriptedModel.start([...(options.rules ?? []), echo]);
    const rig = new TelegramRig(double, model, options);
    options.before?.(rig.home);
    await rig.open();
    return rig;
  }

  get config(): ConfigInput {
    const { config = {}, telegram = {} } = this.#options;
    const bot = { token: `env:${tokenVariable}`, apiRoot: this.double.apiRoot, ...telegram };
    return { ...this.model.config('openai'), ...config, channels: { telegram: bot } };
  }

  get claw(): TrayClaw {
    if (this.#claw === null) throw new Error('the program does not run');
    return this.#claw;
  }

  async open(): Promise<void> {
    this.#claw = await this.home.open({ config: this.config, ...this.#options.program });
    await this.state('running');
  }

  async close(): Promise<void> {
    await this.#claw?.close();
    this.#claw = null;
  }

  state(wanted: string): Promise<void> {
    return until(async () => (await this.claw.op('telegram.status', {})).state === wanted, `the bot is ${wanted}`);
  }

  /** Pairs as a person does: reads the code at the computer, sends it to the bot, confirms at the computer. */
  async pair(person: Person = this.ada): Promise<void> {
    const { code, pairingId } = await this.claw.op('telegram.pair', {});
    person.write(code);
    await until(async () => {
      const { pairings } = await this.claw.op('telegram.list', {});
      return pairings.find((one) => one.pairingId === pairingId)?.claimedBy?.userId === String(person.id);
    }, 'the code has arrived');
    await this.claw.op('telegram.confirm', { pairingId });
    await this.hears(/You are paired/, person);
  }

  /** Waits until the bot has said a matching text in the person's chat; resolves to that message. */
  async hears(words: RegExp | string, person: Person = this.ada) {
    const found = () =>
      person.shown().findLast(({ from, text }) => from.is_bot && (typeof words === 'string' ? text === words : words.test(text)));
    await until(() => found() !== undefined, `the chat shows ${String(words)}; it shows ${JSON.stringify(person.heard())}`);
    const message = found();
    if (message === undefined) throw new Error('it is gone again');
    return message;
  }

  async dispose(): Promise<void> {
    await this.home.dispose();
    await this.model.close();
    await this.double.stop();
  }
}
