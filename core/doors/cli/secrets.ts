// `secret`: names in, names out. A value or passphrase comes from standard input or a hidden prompt, never from the command line or an echo.

import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { Caller, OpResult } from '../../contracts/ops.ts';
import type { CommandContext, Run } from './command-context.ts';
import type { Connection } from './connect.ts';
import { exitCodes } from './exit-code.ts';

export function registerSecrets(program: Command, run: Run): void {
  const secrets = program.command('secret').description('keys and passwords in the keychain, or in an encrypted vault');
  secrets
    .command('set')
    .argument('<name>')
    .description('store a secret; the value is read from standard input or asked for')
    .action((name: string) =>
      run(async (context) => setSecret(context, { name, value: await readSecret(context, `Value of ${name} (not shown): `) })),
    );
  secrets
    .command('status')
    .description('show where secrets are kept and whether it is unlocked')
    .action(() => run((context) => context.runOp('secret.status', {}, { human: ({ detail }) => detail })));
  secrets
    .command('unlock')
    .description('unlock the encrypted vault, or create it')
    .action(() => run((context) => context.withClaw('any', (connection) => unlock(context, connection))));
  secrets
    .command('list')
    .description('list the names of secrets')
    .action(() =>
      run((context) =>
        context.runOp('secret.list', {}, { json: ({ names }) => names, human: ({ names }) => names.join('\n') || 'No secrets.' }),
      ),
    );
  secrets
    .command('delete')
    .description('delete a secret')
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

/** A locked vault is opened on the way where somebody sits there: the runtime may live no longer than this command. */
function setSecret(context: CommandContext, params: { name: string; value: string }): Promise<number> {
  return context.withClaw('any', async (connection) => {
    const store = () => connection.claw.op('secret.set', params, { channel: 'cli', actor: 'cli' });
    let stored: OpResult<'secret.set'>;
    try {
      stored = await store();
    } catch (cause) {
      if (!context.hasPerson || toAppError(cause).code !== 'vault_locked') throw cause;
      await openVault(context, connection);
      stored = await store();
    }
    context.output.result(stored, () => `Stored ${params.name}.${stored.warning === undefined ? '' : `\n${stored.warning}`}`);
    return exitCodes.done;
  });
}

async function unlock(context: CommandContext, connection: Connection): Promise<number> {
  const status = await openVault(context, connection);
  const forNow = connection.instance === null ? '\nNo instance is running, so it was opened for this command only.' : '';
  context.output.result(status, () => status.detail + forNow);
  return exitCodes.done;
}

/** A new passphrase is asked for twice: nobody could open a vault with a slip in its own. */
export async function openVault(context: CommandContext, { claw }: Connection): Promise<OpResult<'secret.status'>> {
  const caller: Caller = { channel: 'cli', actor: 'cli' };
  const { hasVault } = await claw.op('secret.status', {}, caller);
  const passphrase = await readSecret(
    context,
    hasVault ? 'Passphrase of the vault (not shown): ' : 'New passphrase for the vault (not shown): ',
  );
  if (!hasVault && context.io.stdinIsTty && passphrase !== (await readSecret(context, 'The same once more: '))) {
    throw new AppError('invalid_params', 'The two are not the same; nothing was made.');
  }
  return claw.op('secret.unlock', { passphrase }, caller);
}

export async function readSecret(context: CommandContext, prompt: string): Promise<string> {
  const value = context.io.stdinIsTty ? await promptHidden(context, prompt) : (await context.readStdin()).replace(/\r?\n$/, '');
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
