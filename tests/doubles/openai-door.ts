// For tests only: a runtime with the door for programs that use OpenAI's API, a scripted model, and a valid token.

import type { DoorChecks } from '../../core/doors/http/http.ts';
import { createHttpDoor, type HttpDoor } from '../../core/doors/http/http.ts';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { OpParams, OpResult } from '../../core/contracts/ops.ts';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from '../faults/test-home.ts';
import { ScriptedModel, type Rule } from './scripted-model.ts';

/** The access token of the window, which must not open any other door. */
export const appToken = 'the-token-of-the-window-and-of-no-other-door';

export class OpenAiDoorRig {
  readonly home = new TestHome();
  readonly model: ScriptedModel;
  claw!: TrayClaw;
  port = 0;
  key = '';
  #config: ConfigInput = {};
  readonly #doors: HttpDoor[] = [];

  private constructor(model: ScriptedModel) {
    this.model = model;
  }

  static async start(
    rules: readonly Rule[] = [],
    config: ConfigInput = {},
    env: Readonly<Record<string, string>> = {},
    prices?: { readonly inputUsdPerMillion: number; readonly outputUsdPerMillion: number },
  ): Promise<OpenAiDoorRig> {
    const rig = new OpenAiDoorRig(await ScriptedModel.start(rules));
    Object.assign(rig.home.env, env);
    const lab = { kind: 'openai-compatible' as const, baseUrl: `${rig.model.origin}/v1` };
    const priced = prices === undefined ? {} : { providers: { lab: { ...lab, prices: { scripted: prices } } } };
    rig.#config = { ...rig.model.config('openai'), ...priced, ...config };
    rig.claw = await rig.home.open({ config: rig.#config });
    rig.port = await rig.listen();
    rig.key = (await rig.token({ name: 'tests', scope: ['all'] })).key;
    return rig;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  token(params: OpParams<'door.create_token'>): Promise<OpResult<'door.create_token'>> {
    return this.claw.op('door.create_token', { perMinute: 6000, ...params });
  }

  /** Opens another listener on the same runtime. */
  async listen(replaceChecks?: (real: DoorChecks) => DoorChecks, port?: number): Promise<number> {
    const door = createHttpDoor({
      claw: this.claw,
      routes: this.claw.routes,
      token: appToken,
      logger: silentLogger,
      clock: systemClock,
      assetsFolder: null,
      version: 'test',
      ...(replaceChecks === undefined ? {} : { replaceChecks }),
    });
    this.#doors.push(door);
    return (await door.listen(port === undefined ? {} : { port })).port;
  }

  /** Closes the runtime and opens it again, as the next start does. */
  async restart(): Promise<void> {
    for (const door of this.#doors.splice(0)) await door.close();
    await this.home.close(this.claw);
    this.claw = await this.home.open({ config: this.#config });
    this.port = await this.listen();
  }

  async send(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  async dispose(): Promise<void> {
    for (const door of this.#doors) await door.close();
    await this.home.dispose();
    await this.model.close();
  }
}
