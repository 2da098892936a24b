// The rig for the suites of invalid input: a data folder with a session in it, a scripted model, and the checks after any failure: a clear
// error, and nothing lost.

import { expect } from 'vitest';
import type { ErrorBody, ErrorCode } from '../../core/contracts/errors.ts';
import { AppError, type TrayClaw } from '../../core/index.ts';
import { ScriptedModel, type Rule, type WireFormat } from '../doubles/scripted-model.ts';
import { TestHome } from './test-home.ts';

export const sessionId = 'kept';
export const goodRule: Rule = { user: 'remember', answer: { text: 'It is remembered.' } };

export interface Expected {
  readonly code: ErrorCode;
  readonly says: RegExp;
  /** False if the person can do nothing, so that no hint is expected. */
  readonly hint?: false;
}

export class BadInputRig {
  readonly home = new TestHome();
  readonly model: ScriptedModel;

  private constructor(model: ScriptedModel) {
    this.model = model;
    this.home.env['MODEL_KEY'] = 'sk-bad-input-key';
  }

  static async start(): Promise<BadInputRig> {
    return new BadInputRig(await ScriptedModel.start());
  }

  settings(format: WireFormat = 'openai') {
    const { providers, models } = this.model.config(format);
    const timeouts = { connectMs: 500, firstTokenMs: 5_000, idleMs: 5_000, totalMs: 20_000 };
    return { providers, models: { ...models, timeouts, retries: 1 } };
  }

  /** Creates a session in the folder and closes it in order. */
  async seed(): Promise<void> {
    this.model.script([goodRule]);
    const claw = await this.home.open({ config: this.settings() });
    expect((await claw.ask('remember', { sessionId })).status).toBe('done');
    await this.home.close(claw);
  }

  /** Asserts that nothing is lost: the seeded session exists, the log verifies, and the session continues. */
  async expectWhole(claw: TrayClaw): Promise<void> {
    this.model.script([goodRule]);
    const { session } = await claw.op('session.get', { sessionId });
    const again = await claw.ask('remember this too', { sessionId });
    const { ok } = await claw.op('audit.verify', {});
    expect({ id: session.sessionId, answer: again.text, ok }).toEqual({ id: sessionId, answer: 'It is remembered.', ok: true });
  }

  async dispose(): Promise<void> {
    await this.home.dispose();
    await this.model.close();
  }
}

export async function failureOf(promise: Promise<unknown>): Promise<ErrorBody> {
  try {
    await promise;
  } catch (cause) {
    if (cause instanceof AppError) return cause.toBody();
    throw cause;
  }
  throw new Error('it was expected to fail');
}

export function expectClear(error: ErrorBody | undefined, { code, says, hint }: Expected): void {
  expect({ code: error?.code, message: error?.message }).toEqual({ code, message: expect.stringMatching(says) as string });
  if (hint !== false) expect(error?.hint ?? '').toMatch(/\w+ \w+/);
  expect(error?.message).not.toMatch(/undefined|\[object|at .*\.ts:\d+|Error:/);
}
