// The time the gate and the log add to a call of an MCP tool: the same call through the protocol's raw client, and a no-op tool of the
// program itself, alternating. Reports how much of that time any tool with an effect takes, because its request must reach the disk first.
// Also measures the memory of this process with five connected, idle servers.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as z from 'zod';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type * as Library from '../../../core/index.ts';
import { ownName, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import { median, quantile } from '../statistics.ts';
import { timed } from '../timed.ts';

const CALLS = 150;
const WARM = 50;
const SERVERS = 5;
const program = fileURLToPath(new URL('../../doubles/mcp/stdio-server.mjs', import.meta.url));

export async function measureMcp(context: BenchContext): Promise<Figure[]> {
  context.say('mcp: a call of a tool of a server, and the memory of five servers');
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-mcp-bench-'));
  const script = join(folder, 'script.json');
  const tool = { name: 'read', description: 'Reads.', inputSchema: { type: 'object', properties: {} } };
  writeFileSync(script, JSON.stringify({ tools: [tool], results: { read: { content: [{ type: 'text', text: 'read' }] } } }));
  const server = { command: process.execPath, args: [program, script] };
  const names = Array.from({ length: SERVERS }, (_, at) => `s${at}`);
  const { createTrayClaw, defineTool } = (await import(pathToFileURL(context.libraryFile).href)) as typeof Library;
  const effect = defineTool({
    name: 'effect',
    description: 'Has an effect.',
    input: z.strictObject({}),
    class: 'exec',
    idempotency: () => 'unsafe',
    facts: () => ({ class: 'exec', paths: [], command: null, hosts: [] }),
    summarize: () => 'have an effect',
    run: () => Promise.resolve({ forModel: 'read' }),
  });
  const claw = await createTrayClaw({
    home: join(folder, 'home'),
    tools: [effect],
    config: {
      sandbox: { mode: 'off' },
      policy: { limits: { callsPerMinute: { exec: 10_000 } } },
      mcp: { servers: Object.fromEntries(names.map((name) => [name, server])) },
    },
  });
  const raw = new Client({ name: 'bench', version: '1' });
  try {
    const before = settledMb();
    for (const name of names) {
      const { server: shown } = await claw.op('mcp.test', { name });
      await claw.op('mcp.approve', { name, sha256: shown.sha256 ?? '' });
    }
    const connectedMb = settledMb() - before;
    await raw.connect(new StdioClientTransport(server));
    const run = async (name: string, args: object): Promise<void> => {
      const { outcome } = await claw.op('tool.run', { tool: name, args, wait: false });
      if (outcome !== 'ok') throw new Error(`the call of ${name} ended as ${outcome}`);
    };
    // Each call uses a new session, because a result makes the next call of its session untrusted.
    for (const name of ['s0__read', 'effect']) {
      const { pending = [] } = await claw.op('tool.run', { tool: name, args: {}, wait: false });
      for (const { approvalId } of pending)
        await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'always' } });
      await claw.whenIdle();
    }
    const served = (): Promise<void> => run('s0__read', {});
    const own = (): Promise<void> => run('calc', { expression: '1+1' });
    const effective = (): Promise<void> => run('effect', {});
    const bare = async (): Promise<void> => void (await raw.callTool({ name: 'read', arguments: {} }));
    for (let i = 0; i < WARM; i++) for (const call of [own, effective, bare, served]) await call();
    const added: number[] = [];
    const processor: number[] = [];
    const ofEffects: number[] = [];
    for (let i = 0; i < context.count(CALLS); i++) {
      const [inside, outside, whole] = [await timed(own), await timed(bare), await timed(served)];
      ofEffects.push((await timed(effective)).cpuMs - inside.cpuMs);
      added.push(whole.wallMs - inside.wallMs - outside.wallMs);
      processor.push(whole.cpuMs - inside.cpuMs - outside.cpuMs);
    }
    return [
      {
        section: 'mcp',
        name: 'added to a call',
        subject: ownName,
        unit: 'ms',
        p50: median(added),
        p99: quantile(added, 0.99),
        note: `processor ${median(processor).toFixed(2)}, of it ${median(ofEffects).toFixed(2)} of any effect; n ${added.length}`,
      },
      { section: 'mcp', name: 'memory of five servers', subject: ownName, unit: 'MB', p50: connectedMb, note: 'of this process' },
    ];
  } finally {
    await raw.close();
    await claw.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function settledMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss / 1e6;
}
