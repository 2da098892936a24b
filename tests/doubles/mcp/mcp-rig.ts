// For tests only: a program with scripted MCP servers, and the steps of a person who adds and approves one.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { createTrayClaw, type TrayClaw, type TrayClawOptions } from '../../../core/index.ts';
import type { McpServerConfig, McpServerView } from '../../../core/contracts/features/mcp.ts';
import { blankDatabase } from '../../rigs/blank-database.ts';

const program = fileURLToPath(new URL('stdio-server.mjs', import.meta.url));

export interface McpScript {
  readonly tools: readonly object[];
  readonly results?: Readonly<Record<string, object>>;
  readonly stderr?: string;
  readonly resources?: readonly object[];
  readonly prompts?: readonly object[];
  readonly instructions?: string;
  readonly endlessPages?: boolean;
  /** Does not answer what comes before the session is initialized. */
  readonly isSilent?: boolean;
  /** Runs calls as tasks. With `kept` it still knows them after a restart; with `forgotten` it does not. */
  readonly tasks?: 'kept' | 'forgotten';
  /** Reads the tools from a file that the test may change. */
  readonly changing?: boolean;
}

export function toolOf(name: string, more: object = {}): object {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object', properties: { text: { type: 'string' } } }, ...more };
}

export class McpRig {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-mcp-')));
  #claw: TrayClaw | null = null;

  constructor() {
    writeFileSync(join(this.home, 'trayclaw.db'), blankDatabase(), { mode: 0o600 });
    onTestFinished(async () => {
      await this.#claw?.close();
      rmSync(this.home, { recursive: true, force: true });
    });
  }

  get claw(): TrayClaw {
    if (this.#claw === null) throw new Error('open the program first');
    return this.#claw;
  }

  /** The configuration of a scripted server. */
  server(name: string, script: McpScript, more: Partial<McpServerConfig> = {}): McpServerConfig {
    const path = join(this.home, `${name}.json`);
    const { changing = false, tasks, ...rest } = script;
    const files = {
      record: this.recordPath(name),
      ...(changing ? { toolsFile: this.#toolsPath(name) } : {}),
      ...(tasks === undefined ? {} : { tasksFile: tasks === 'kept' ? join(this.home, `${name}.tasks.json`) : '' }),
    };
    if (changing) this.setTools(name, script.tools);
    writeFileSync(path, JSON.stringify({ ...rest, ...files }));
    return { command: process.execPath, args: [program, path], ...more };
  }

  setTools(name: string, tools: readonly object[]): void {
    writeFileSync(this.#toolsPath(name), JSON.stringify(tools));
  }

  recordPath(name: string): string {
    return join(this.home, `${name}.record`);
  }

  /** The requests the server received. */
  received(name: string): { method?: string; params?: Record<string, unknown> }[] {
    const path = this.recordPath(name);
    if (!existsSync(path)) return [];
    return readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { method?: string });
  }

  calls(name: string): unknown[] {
    return this.received(name).flatMap(({ method, params }) => (method === 'tools/call' ? [params?.['name']] : []));
  }

  /** Writes config.yaml, for a program whose settings change while it runs. */
  configure(servers: Readonly<Record<string, McpServerConfig>>): void {
    mkdirSync(join(this.home, 'data'), { recursive: true });
    writeFileSync(join(this.home, 'data', 'config.yaml'), JSON.stringify({ sandbox: { mode: 'off' }, mcp: { servers } }));
  }

  /** With null, the settings are those of config.yaml. */
  async open(
    servers: Readonly<Record<string, McpServerConfig>> | null,
    more: Partial<TrayClawOptions> = {},
    config: object = {},
  ): Promise<TrayClaw> {
    await this.#claw?.close();
    this.#claw = await createTrayClaw({
      home: join(this.home, 'data'),
      ...(servers === null ? {} : { config: { sandbox: { mode: 'off' }, mcp: { servers }, ...config } }),
      ...more,
    });
    return this.#claw;
  }

  /** Displays the server and approves it, as a person does. */
  async approve(name: string): Promise<McpServerView> {
    const { server } = await this.claw.op('mcp.test', { name });
    return (await this.claw.op('mcp.approve', { name, sha256: server.sha256 ?? '' })).server;
  }

  /** Calls a tool and answers every approval that the call needs. `asked` is the number of approvals. */
  async call(tool: string, args: object, decision: 'approve' | 'deny' | 'nobody' = 'approve') {
    const started = await this.claw.op('tool.run', { tool, args, wait: false });
    const [pending] = started.pending ?? [];
    if (started.outcome !== 'waiting' || pending === undefined || decision === 'nobody') return { ...started, asked: 0 };
    await this.claw.op('approval.decide', { approvalId: pending.approvalId, decision });
    await this.claw.whenIdle();
    for await (const event of this.claw.events({ after: 0, sessionId: started.sessionId })) {
      if (event.type === 'tool.finished' && event.body.callId === started.callId) return { ...started, ...event.body, asked: 1 };
      if (event.type === 'turn.finished') return { ...started, outcome: 'denied' as const, asked: 1 };
    }
    throw new Error('the call has no end');
  }

  #toolsPath(name: string): string {
    return join(this.home, `${name}.tools.json`);
  }
}
