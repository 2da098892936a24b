// For tests only: small real tools of each class, with a countable effect and a latch that can be held shut.

import { join } from 'node:path';
import * as z from 'zod';
import type { CallFacts, Idempotency, ToolDefinition, ToolResult } from '../../core/contracts/tools.ts';
import { defineTool } from '../../core/hands/tools/tools.ts';

export class BenchTools {
  /** One entry per run: the tool and its argument. */
  readonly ran: string[] = [];
  /** Runs that have started and not ended. */
  active = 0;
  activeMost = 0;
  /** While set, runs wait for it. */
  gate: PromiseWithResolvers<void> | null = null;
  /** The facts of a write; a test changes them to cause drift. */
  readonly folder: { path: string; isProtected: boolean };
  result: (tool: string, arg: string) => string = (tool, arg) => `${tool} ${arg} done`;

  constructor() {
    this.folder = { path: '/ws', isProtected: false };
  }

  /** look: pure read. put: idempotent write. fire: unsafe command. */
  list(): ToolDefinition[] {
    return [
      this.#define('look', 'read', 'pure'),
      this.#define('put', 'write', 'idempotent'),
      this.#define('fire', 'exec', 'unsafe'),
      this.#define('forbidden', 'read', 'pure'),
      this.#define('spy', 'read', 'pure', false),
    ];
  }

  #define(name: string, toolClass: 'read' | 'write' | 'exec', idempotency: Idempotency, insideWorkspace = true): ToolDefinition {
    return defineTool({
      name,
      description: `The tool ${name}.`,
      input: z.strictObject({ arg: z.string() }),
      class: toolClass,
      idempotency: () => idempotency,
      facts: ({ arg }): CallFacts => ({
        class: toolClass,
        paths: [
          {
            given: arg,
            real: join(this.folder.path, arg),
            access: toolClass === 'write' ? 'write' : 'read',
            insideWorkspace: insideWorkspace && !arg.startsWith('..'),
            protectedBy: this.folder.isProtected ? 'keys are kept there' : null,
          },
        ],
        command: toolClass === 'exec' ? { line: arg, cwd: this.folder.path } : null,
        hosts: [],
      }),
      summarize: ({ arg }) => `${name} ${arg}`,
      run: async ({ arg }, { signal }): Promise<ToolResult> => {
        this.ran.push(`${name} ${arg}`);
        this.active += 1;
        this.activeMost = Math.max(this.activeMost, this.active);
        const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        if (this.gate !== null) await Promise.race([this.gate.promise, aborted]);
        else await Promise.resolve();
        this.active -= 1;
        return { forModel: this.result(name, arg) };
      },
    });
  }
}
