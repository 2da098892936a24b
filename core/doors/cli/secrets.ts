// `secret`: names in, names out. A value comes from standard input or a hidden prompt, never from the command line or an echo.

import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { AppError } from '../../contracts/errors.ts';
import type { CommandContext, Run } from './command-context.ts';
import { exitCodes } from './exit-code.ts';

export function registerSecrets(program: Command, run: Run): void {
  const secrets = program.command('secret').description('keys and passwords in the keychain');
  secrets
    .command('set')
    .argument('<name>')
    .description('the value is read from standard input, or asked for without showing it')
    .action((name: string) =>
      run(async (context) =>
        context.runOp('secret.set', { name, value: await readSecret(context, name) }, { human: () => `Stored ${name}.` }),
      ),
    );
  secrets
    .command('list')
    .action(() =>
      run((context) =>
        context.runOp('secret.list', {}, { json: ({ names }) => names, human: ({ names }) => names.join('\n') || 'No secrets.' }),
      ),
    );
  secrets
    .command('delete')
    .argument('<name>')
    .action((name: string) =>
      run((context) =>
        context.runOp(
          'secret.delete',
          { name },
          {
            human: ({ deleted }) => (deleted ? `Deleted ${name}.` : `There is no secret ${name}.`),
            exitCode: ({ deleted }) => (deleted ? exitCodes.done : exitCodes.failed),
          },
        ),
      ),
    );
}

async function readSecret(context: CommandContext, name: string): Promise<string> {
  const value = context.io.stdinIsTty
    ? await promptHidden(context, `Value of ${name} (not shown): `)
    : (await context.readStdin()).replace(/\r?\n$/, '');
  if (value === '') throw new AppError('invalid_params', 'No value was given.');
  return value;
}

async function promptHidden(context: CommandContext, prompt: string): Promise<string> {
  const { createInterface } = await import('node:readline');
  context.io.stderr.write(prompt);
  // readline echoes what is typed to its output, so that output goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: context.io.stdin, output: nowhere, terminal: 'setRawMode' in context.io.stdin, historySize: 0 });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('SIGINT', () => reject(new AppError('cancelled', 'Cancelled.')));
      lines.once('close', () => resolve(''));
    });
  } finally {
    lines.close();
    context.io.stderr.write('\n');
  }
}
