// A few tools over files in memory, enough for the window's specs. The gate here knows one rule: reading is free, the rest asks.

import { setTimeout as delay } from 'node:timers/promises';
import type { CallFacts, ToolClass, ToolOutcome } from '../../../core/contracts/tools.ts';

export interface DevelopmentResult {
  readonly outcome: ToolOutcome;
  readonly text: string;
}

interface RunContext {
  readonly files: Map<string, string>;
  readonly signal: AbortSignal;
  readonly onOutput: (text: string) => void;
}

type Arguments = Readonly<Record<string, unknown>>;

export interface DevelopmentTool {
  readonly class: ToolClass;
  summarize(args: Arguments): string;
  readonly risk: string;
  run(args: Arguments, context: RunContext): Promise<DevelopmentResult> | DevelopmentResult;
}

const workspace = '/home/ada/workspace';
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const done = (text: string): DevelopmentResult => ({ outcome: 'ok', text });
const failed = (text: string): DevelopmentResult => ({ outcome: 'error', text });

async function runCommand(line: string, context: RunContext): Promise<DevelopmentResult> {
  if (!line.startsWith('sleep')) {
    context.onOutput(`$ ${line}\n`);
    return done(`ran: ${line}`);
  }
  for (let second = 0; second < 120; second++) {
    context.onOutput(`still here after ${second} s\n`);
    try {
      await delay(1000, undefined, { signal: context.signal });
    } catch {
      return { outcome: 'cancelled', text: 'Stopped.' };
    }
  }
  return done('slept');
}

export const developmentTools: Readonly<Record<string, DevelopmentTool>> = {
  read_file: {
    class: 'read',
    risk: 'Reads a file of the workspace.',
    summarize: (args) => `Wants to read ${textOf(args['path'])}`,
    run: (args, { files }) => {
      const text = files.get(textOf(args['path']));
      return text === undefined ? failed(`There is no ${textOf(args['path'])}.`) : done(text);
    },
  },
  list_dir: {
    class: 'read',
    risk: 'Reads the names in a folder.',
    summarize: () => 'Wants to list the workspace',
    run: (_args, { files }) => done([...files.keys()].join('\n')),
  },
  calculator: {
    class: 'read',
    risk: 'None.',
    summarize: (args) => `Wants to calculate ${textOf(args['expression'])}`,
    run: (args) => done(textOf(args['expression']) === '2340 * 0.175' ? '409.5' : '4'),
  },
  write_file: {
    class: 'write',
    risk: 'Creates or replaces this file; it can be put back.',
    summarize: (args) => `Wants to write ${textOf(args['path'])} (${Buffer.byteLength(textOf(args['content']))} B)`,
    run: (args, { files }) => {
      files.set(textOf(args['path']), textOf(args['content']));
      return done(`Wrote ${textOf(args['path'])}.`);
    },
  },
  exec: {
    class: 'exec',
    risk: 'Runs a program with your rights in the workspace folder.',
    summarize: (args) => `Wants to run ${textOf(args['command'])}`,
    run: (args, context) => runCommand(textOf(args['command']), context),
  },
};

export function factsOf(tool: string, args: Arguments): CallFacts {
  const path = textOf(args['path']);
  const access = tool === 'write_file' ? 'write' : 'read';
  return {
    class: developmentTools[tool]?.class ?? 'exec',
    paths: path === '' ? [] : [{ given: path, real: `${workspace}/${path}`, access, insideWorkspace: true, protectedBy: null }],
    command: tool === 'exec' ? { line: textOf(args['command']), cwd: workspace } : null,
    hosts: [],
  };
}
