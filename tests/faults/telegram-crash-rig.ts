// The served program with a Telegram bot, killed again and again while a person writes and presses buttons; the Bot API and the model keep
// running. Every third message needs an approval: for a file write, or for a command whose runs can be counted.

import { HttpClaw } from '../../core/doors/http/http.ts';
import { BotApiDouble } from '../doubles/telegram/bot-api-double.ts';
import { Person } from '../doubles/telegram/person.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { countTelegram, newestAnswered, numberIn, numberOfCall, runsFile, runsOf, type TelegramTally } from './telegram-tally.ts';
import { TestHome, type Serving } from './test-home.ts';

export interface CrashTally extends TelegramTally {
  kills: number;
  presses: number;
  /** Commands interrupted by a kill, whose outcome a person was asked about. */
  settled: number;
}

const tokenVariable = 'TEST_BOT_TOKEN';
/** If nothing changes for this long, the current state is counted. */
const PATIENCE_MS = 60_000;
const LIFE_MS = 1_500;
const BACKLOG_MAX = 12;

export class TelegramCrashRig {
  readonly home = new TestHome();
  readonly double: BotApiDouble;
  readonly model: ScriptedModel;
  readonly ada: Person;
  readonly #random: () => number;
  #serving: Serving | null = null;
  #claw: HttpClaw | null = null;
  #jobs = 0;
  readonly #commands: number[] = [];
  #kills = 0;
  #presses = 0;
  #settled = 0;

  private constructor(double: BotApiDouble, model: ScriptedModel, seed: number) {
    this.double = double;
    this.model = model;
    this.ada = new Person(double, { id: 42, name: 'Ada' });
    this.#random = seeded(seed);
  }

  static async start(seed: number): Promise<TelegramCrashRig> {
    const double = await new BotApiDouble().start();
    const model = await ScriptedModel.start([
      {
        user: /^ask \d+$/,
        results: 0,
        answer: ({ userText }) => ({
          calls: [{ tool: 'write_file', args: { path: `${numberIn(userText)}.txt`, content: userText } }],
          firstDelayMs: 20,
        }),
      },
      {
        user: /^run \d+$/,
        results: 0,
        answer: ({ userText }) => ({
          calls: [{ tool: 'exec', args: { command: `sleep 0.1; echo ${numberIn(userText)} >> ${runsFile}; sleep 0.1` } }],
          firstDelayMs: 20,
        }),
      },
      { answer: ({ userText }) => ({ text: `Done with number ${numberIn(userText)}.`, pieceChars: 3, firstDelayMs: 20, delayMs: 10 }) },
    ]);
    const rig = new TelegramCrashRig(double, model, seed);
    rig.home.env[tokenVariable] = double.token;
    const telegram = { token: `env:${tokenVariable}`, apiRoot: double.apiRoot };
    rig.home.configure({ ...model.config('openai'), channels: { telegram }, limits: { queuedMessages: 1000 } });
    await rig.#open();
    await rig.#pair();
    return rig;
  }

  /** One run of the program: messages before and after it is open, buttons pressed, and a kill at a random moment. */
  async liveAndDie(): Promise<void> {
    if (this.#serving === null) {
      this.#write();
      await this.#open();
    }
    this.#write();
    if (this.#random() < 0.3) this.#write();
    const endMs = performance.now() + this.#random() * LIFE_MS;
    while (performance.now() < endMs) {
      this.#pressAll();
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    await this.#kill();
  }

  /** A run without a kill, until everything is idle; then the state is counted. */
  async settle(): Promise<CrashTally> {
    await this.#open();
    let tally = await this.#count();
    let endMs = performance.now() + PATIENCE_MS;
    while (performance.now() < endMs && !(await this.#isAtRest(tally))) {
      this.#pressAll();
      await new Promise((resolve) => setTimeout(resolve, 250));
      const before = tally;
      tally = await this.#count();
      if (progressOf(tally) > progressOf(before)) endMs = performance.now() + PATIENCE_MS;
    }
    return tally;
  }

  async dispose(): Promise<void> {
    await this.#claw?.close();
    await this.home.dispose();
    await this.model.close();
    await this.double.stop();
  }

  get #running(): HttpClaw {
    if (this.#claw === null) throw new Error('the program does not run');
    return this.#claw;
  }

  async #open(): Promise<void> {
    this.#serving = await this.home.serve();
    this.#claw = new HttpClaw({ address: { port: Number(new URL(this.#serving.url).port) }, token: this.#serving.token });
    await this.#settleOutcomes();
  }

  async #kill(): Promise<void> {
    await this.#claw?.close();
    await this.#serving?.end('SIGKILL');
    this.#claw = null;
    this.#serving = null;
    this.#kills += 1;
  }

  async #pair(): Promise<void> {
    await until(async () => (await this.#running.op('telegram.status', {})).state === 'running', 'the bot runs');
    const { code, pairingId } = await this.#running.op('telegram.pair', {});
    this.ada.write(code);
    await until(
      async () => (await this.#running.op('telegram.list', {})).pairings.some((one) => one.claimedBy !== null),
      'the code arrived',
    );
    await this.#running.op('telegram.confirm', { pairingId });
    await until(() => this.ada.heard().some((text) => text.startsWith('You are paired')), 'the person is told');
  }

  /** A person does not write more while many messages are unanswered; otherwise most would be handled after the last kill. */
  #write(): void {
    if (this.#jobs - newestAnswered(this.ada.heard()) >= BACKLOG_MAX) return;
    this.#jobs += 1;
    const kind = this.#jobs % 3 !== 0 ? 'do' : this.#jobs % 2 === 0 ? 'run' : 'ask';
    this.ada.write(`${kind} ${this.#jobs}`);
    if (this.#random() < 0.5) this.#commands.push(this.ada.write('/help'));
  }

  /** Answers every pending approval, mostly with yes; sometimes twice in a row, the second time possibly with another answer. */
  #pressAll(): void {
    for (const { messageId, buttons } of this.ada.shown()) {
      const [yes, no] = buttons[0] ?? [];
      if (yes === undefined || no === undefined || this.#random() < 0.7) continue;
      const times = this.#random() < 0.3 ? 2 : 1;
      for (let time = 0; time < times; time++) {
        this.ada.pressData((this.#random() < 0.85 ? yes : no).callback_data, messageId);
        this.#presses += 1;
      }
    }
  }

  /** Acts as a person who is asked about the outcome of a command: looks at the file, and answers. */
  async #settleOutcomes(): Promise<void> {
    for (const { callId, args } of (await this.#running.op('outcome.list', {})).outcomes) {
      const isDone = runsOf(this.home.workspace, numberOfCall(args)) > 0;
      await this.#running.op('outcome.settle', { callId, answer: isDone ? 'done' : 'retry' });
      this.#settled += 1;
    }
  }

  async #isAtRest(tally: CrashTally): Promise<boolean> {
    if (this.double.updates.unconfirmed.length > 0 || tally.lost.length > 0 || tally.unanswered.length > 0) return false;
    if (tally.commandsUnanswered > 0) return false;
    return (await this.#running.op('approval.list', {})).approvals.length === 0;
  }

  #replies(): number[] {
    const bot = this.ada.shown().filter(({ from }) => from.is_bot);
    return this.#commands.map((messageId) => bot.filter(({ replyTo }) => replyTo === messageId).length);
  }

  async #count(): Promise<CrashTally> {
    const counted = {
      claw: this.#running,
      workspace: this.home.workspace,
      messages: this.#jobs,
      heard: this.ada.heard(),
      replies: this.#replies(),
    };
    return { kills: this.#kills, presses: this.#presses, settled: this.#settled, ...(await countTelegram(counted)) };
  }
}

function progressOf({ messages, lost, unanswered, approved, denied }: TelegramTally): number {
  return 2 * messages - lost.length - unanswered.length + approved + denied;
}

/** The same runs for the same seed, as far as timing allows. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
