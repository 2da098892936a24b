// `secret`: prints only names. A value or passphrase is read from standard input or a hidden prompt, never from the command line, and never
// echoed.

import { Writable } from 'node:stream';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { Caller, OpResult } from '../../contracts/ops.ts';
import type { CommandContext } from './command-context.ts';
import type { Connection } from './connect.ts';
import { exitCodes } from './exit-code.ts';

/** Unlocks a locked vault first if a person is at the terminal, because the runtime may exist only for this command. */
export async function setSecret(context: CommandContext, name: string): Promise<number> {
  const params = { name, value: await readSecret(context, `Value of ${name} (not shown): `) };
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

export async function unlock(context: CommandContext, connection: Connection): Promise<number> {
  const status = await openVault(context, connection);
  const forNow = connection.instance === null ? '\nNo instance is running, so it was opened for this command only.' : '';
  context.output.result(status, () => status.detail + forNow);
  return exitCodes.done;
}

/** Asks for a new passphrase twice, because a vault with a mistyped one could not be opened again. */
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
  // readline echoes the input to its output, so that output is discarded.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: context.io.stdin, output: nowhere, terminal: 'setRawMode' in context.io.stdin, historySize: 0 });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('SIGINT', () => reject(new AppError('cancelled', 'Cancelled.')));
      lines.once('close', () => resolve(''));
      lines.on('error', () => resolve(''));
    });
  } finally {
    lines.close();
    context.io.stderr.write('\n');
  }
}
