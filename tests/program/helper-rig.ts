// The rig for tests of subagents: a scripted model server, a runtime with a separate folder, and a tool that waits.

import * as z from 'zod';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { AnyEvent, EventBodies, EventType } from '../../core/contracts/events.ts';
import type { ToolDefinition } from '../../core/contracts/tools.ts';
import { defineTool, type TrayClaw } from '../../core/index.ts';
import { ScriptedModel, type Rule } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

export class HelperRig {
  readonly home = new TestHome();
  readonly model: ScriptedModel;

  private constructor(model: ScriptedModel) {
    this.model = model;
  }

  static async start(): Promise<HelperRig> {
    return new HelperRig(await ScriptedModel.start());
  }

  open(
    rules: readonly Rule[],
    config: ConfigInput = {},
    tools: readonly ToolDefinition[] = [],
    models = this.model.config('openai'),
  ): Promise<TrayClaw> {
    this.model.script(rules);
    return this.home.open({ config: { ...config, ...models }, tools });
  }

  async dispose(): Promise<void> {
    await this.home.dispose();
    await this.model.close();
  }
}

export const call = (tool: string, args: Readonly<Record<string, unknown>>) => ({ tool, args });
export const help = (task: string, more: Readonly<Record<string, unknown>> = {}) => call('subagent', { task, ...more });

/** A tool call enters and waits until a test opens the gate, or it is aborted. */
export class Gate {
  readonly entered: string[] = [];
  readonly left: string[] = [];
  most = 0;
  #open: (() => void)[] = [];
  #isOpen = false;

  tool(): ToolDefinition {
    return defineTool({
      name: 'wait_here',
      description: 'Waits.',
      input: z.strictObject({ who: z.string() }),
      class: 'read',
      idempotency: () => 'idempotent',
      facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
      summarize: ({ who }) => `wait as ${who}`,
      run: async ({ who }, { signal }) => {
        this.entered.push(who);
        this.most = Math.max(this.most, this.entered.length - this.left.length);
        if (!this.#isOpen) {
          await new Promise<void>((resolve) => {
            this.#open.push(resolve);
            signal.addEventListener('abort', () => resolve(), { once: true });
          });
        }
        this.left.push(who);
        return { forModel: `${who} was let through` };
      },
    });
  }

  open(): void {
    this.#isOpen = true;
    for (const go of this.#open) go();
    this.#open = [];
  }
}

export async function eventsOf(claw: TrayClaw): Promise<AnyEvent[]> {
  const found: AnyEvent[] = [];
  const { sessions } = await claw.op('session.list', { helpers: true, limit: 1000 });
  for (const { sessionId } of sessions) {
    const page = await claw.op('session.get', { sessionId, limit: 5000 });
    found.push(...(page.events as AnyEvent[]));
  }
  return found.sort((a, b) => a.seq - b.seq);
}

export function bodies<T extends EventType>(events: readonly AnyEvent[], type: T): EventBodies[T][] {
  return events.flatMap((event) => (event.type === type ? [event.body as EventBodies[T]] : []));
}
