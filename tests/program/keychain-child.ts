// Uses the real keychain of its session, as the program does, and prints the result as one line of JSON.

import { systemClock } from '../../core/base/clock.ts';
import { isAppError } from '../../core/contracts/errors.ts';
import { KeytarKeychain } from '../../core/guard/secret/secret.ts';

const keychain = new KeytarKeychain({ timeoutMs: 5_000 });

const said = async (ask: () => Promise<unknown>): Promise<unknown> => {
  try {
    return (await ask()) ?? null;
  } catch (cause) {
    return isAppError(cause) ? `${cause.code} ${String(cause.data['state'])}` : String(cause);
  }
};

const [what] = process.argv.slice(2);
const startedMs = systemClock.monotonicMs();
const value = 'value with ünïcode';
const steps: readonly (() => Promise<unknown>)[] =
  what === 'use'
    ? [
        () => keychain.get('lab'),
        () => keychain.set('lab', value),
        () => keychain.get('lab'),
        () => keychain.set('work', 'another value'),
        () => keychain.list(),
        () => keychain.delete('lab'),
        () => keychain.delete('lab'),
        () => keychain.list(),
      ]
    : [() => keychain.get('work'), () => keychain.set('lab', value), () => keychain.list()];
const answers: unknown[] = [];
for (const step of steps) answers.push(await said(step));
process.stdout.write(JSON.stringify({ answers, tookMs: Math.round(systemClock.monotonicMs() - startedMs) }) + '\n', () => process.exit(0));
