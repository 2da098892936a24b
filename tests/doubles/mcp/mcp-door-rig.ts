// For tests only: a runtime with the door for MCP clients, a scripted model, and the official client of either era.

import { Client, StreamableHTTPClientTransport, type ElicitRequest, type ElicitResult } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../core/base/clock.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import type { ConfigInput } from '../../../core/contracts/config.ts';
import type { McpEra } from '../../../core/contracts/features/mcp.ts';
import type { OpParams, OpResult } from '../../../core/contracts/ops.ts';
import { createHttpDoor, type DoorChecks, type HttpDoor } from '../../../core/doors/http/http.ts';
import type { TrayClaw } from '../../../core/index.ts';
import { TestHome } from '../../faults/test-home.ts';
import { until } from '../../until.ts';
import { ScriptedModel, type Rule } from '../scripted-model.ts';

type Elicit = (params: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>;

export interface Connected {
  readonly client: Client;
  readonly asked: ElicitRequest['params'][];
}

export class McpDoorRig {
  readonly home = new TestHome();
  readonly model: ScriptedModel;
  claw!: TrayClaw;
  port = 0;
  readonly #doors: HttpDoor[] = [];
  readonly #clients: Client[] = [];

  private constructor(model: ScriptedModel) {
    this.model = model;
  }

  static async start(rules: readonly Rule[] = [], config: ConfigInput = {}): Promise<McpDoorRig> {
    const rig = new McpDoorRig(await ScriptedModel.start(rules));
    rig.claw = await rig.home.open({ config: { ...rig.model.config('openai'), ...config } });
    rig.port = await rig.listen();
    return rig;
  }

  /** Starts a rig that is disposed at the end of the current test. */
  static async forTest(rules: readonly Rule[] = [], config: ConfigInput = {}): Promise<McpDoorRig> {
    const rig = await McpDoorRig.start(rules, config);
    onTestFinished(() => rig.dispose());
    return rig;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.port}/mcp`);
  }

  token(scope: readonly string[], more: Partial<OpParams<'door.create_token'>> = {}): Promise<OpResult<'door.create_token'>> {
    return this.claw.op('door.create_token', { door: 'mcp', perMinute: 6000, scope: [...scope], ...more });
  }

  /** Opens another listener on the same runtime. */
  async listen(replaceChecks?: (real: DoorChecks) => DoorChecks): Promise<number> {
    const door = createHttpDoor({
      claw: this.claw,
      routes: this.claw.routes,
      token: 'the-token-of-the-window-and-of-no-other-door',
      logger: silentLogger,
      clock: systemClock,
      assetsFolder: null,
      version: 'test',
      ...(replaceChecks === undefined ? {} : { replaceChecks }),
    });
    this.#doors.push(door);
    return (await door.listen({})).port;
  }

  /** Without `elicit`, the client cannot ask its person. */
  async connect(key: string, era: McpEra, elicit?: Elicit): Promise<Connected> {
    const asked: ElicitRequest['params'][] = [];
    const client = clientOf(era, elicit === undefined ? undefined : (params) => (asked.push(params), elicit(params)));
    this.#clients.push(client);
    await client.connect(new StreamableHTTPClientTransport(this.url, { requestInit: { headers: { authorization: `Bearer ${key}` } } }));
    return { client, asked };
  }

  /** Resolves to the id of the pending approval once there is one. */
  async pending(): Promise<string> {
    let found: string | undefined;
    await until(async () => {
      const { approvals } = await this.claw.op('approval.list', {});
      found = approvals.find(({ state }) => state === 'pending')?.approvalId;
      return found !== undefined;
    }, 'a call waits for an approval');
    return found ?? '';
  }

  async dispose(): Promise<void> {
    for (const client of this.#clients) await client.close();
    for (const door of this.#doors) await door.close();
    await this.home.dispose();
    await this.model.close();
  }
}

export function clientOf(era: McpEra, elicit?: Elicit): Client {
  const client = new Client(
    { name: 'test-client', version: '1' },
    {
      capabilities: elicit === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: era === 'modern' ? { mode: { pin: '2026-07-28' } } : { mode: 'legacy' },
      inputRequired: { maxRounds: 10 },
    },
  );
  if (elicit !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => elicit(params));
  return client;
}

/** The text of a tool's result. */
export function textOf(result: { readonly content: readonly unknown[] }): string {
  return (result.content as { text?: string }[]).map(({ text }) => text ?? '').join('\n');
}
