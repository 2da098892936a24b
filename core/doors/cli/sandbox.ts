// `sandbox explain`: what commands may touch when they are confined, and whether one would be.

import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { OpParams, OpResult } from '../../contracts/ops.ts';
import type { Run } from './command-context.ts';
import type { Paint } from './output.ts';
import { facts, table } from './table.ts';

export function registerSandbox(program: Command, run: Run): void {
  program
    .command('sandbox')
    .description('how commands are confined')
    .command('explain')
    .description('what a confined command may touch, and whether COMMAND would be confined; runs nothing')
    .argument('[command]', 'a command line, in quotes')
    .option('--cwd <folder>', 'the folder it would run in')
    .action((command: string | undefined, options: { readonly cwd?: string }) => {
      return run((context) => {
        const params: OpParams<'sandbox.explain'> = {
          ...(command === undefined ? {} : { command }),
          ...(options.cwd === undefined ? {} : { cwd: resolve(context.io.cwd, options.cwd) }),
        };
        return context.runOp('sandbox.explain', params, { human: describeSandbox });
      });
    });
}

function describeSandbox(result: OpResult<'sandbox.explain'>, paint: Paint): string {
  const { mode, backend, available, command, files, network, environment, limits } = result;
  const several = (name: string, values: readonly string[], none: string): [string, string][] =>
    values.length === 0 ? [[name, none]] : values.map((value, index) => [index === 0 ? name : '', value]);
  const about = facts([
    ...(command === null ? [] : [['Would run', paint('bold', describePlace(command))] as const]),
    ['Mode', mode],
    ['Confined by', backend === null ? 'nothing: there is no backend for this system' : backend.how],
    ['Available', available ? 'yes' : mode === 'off' ? 'switched off' : 'no'],
    ...result.missing.flatMap(({ what, install }) => [['Missing', what] as const, ['', install] as const]),
    ...several('Writes', files.write, 'nothing'),
    ...several('Hidden', files.hidden, 'nothing'),
    ...several('Opened', files.read, 'nothing of what is hidden'),
    ...several('Denied', files.deny, 'nothing beyond what is protected'),
    ...several('Protected', files.protected, 'nothing'),
    ...several('Network', network.allowDomains, 'none'),
    ['Environment', [...environment, 'HOME', 'TMPDIR'].join(', ')],
  ]);
  const rows = limits.map((limit) => [limit.name, String(limit.value), limit.holds ? 'yes' : paint('red', 'no'), limit.how]);
  return `${about}\n\n${table(['LIMIT', 'VALUE', 'HOLDS', 'HOW'], rows, 'No limits.')}`;
}

function describePlace({ runs, reason }: NonNullable<OpResult<'sandbox.explain'>['command']>): string {
  const place = { inside: 'in the sandbox', outside: 'without a sandbox', refused: 'not at all' }[runs];
  return `${place}: ${reason}`;
}
