// Single questions to the person at the terminal. Each opens the terminal separately, so that a key can be typed without echo in between.
// Makes no decision.

import { AppError } from '../../contracts/errors.ts';
import type { CommandContext } from './command-context.ts';
import { LineReader } from './line-reader.ts';

const TRIES_MAX = 5;

/** The typed text; null on Ctrl-C and at the end of input. */
async function ask(context: CommandContext, prompt: string, begin?: (lines: LineReader) => void): Promise<string | null> {
  const lines = await LineReader.open(context.io);
  const gone = new AbortController();
  const stopListening = lines.onInterrupt(() => gone.abort());
  try {
    begin?.(lines);
    return await lines.ask(prompt, gone.signal);
  } finally {
    stopListening();
    lines.close();
  }
}

/** The typed text. Fails with `cancelled` on Ctrl-C and at the end of input. */
export async function askLine(context: CommandContext, prompt: string): Promise<string> {
  const answer = await ask(context, prompt);
  if (answer === null) throw new AppError('cancelled', 'Cancelled; nothing was changed.');
  return answer;
}

/** Asks one yes-or-no question. Silence and Enter count as no. */
export async function confirmed(context: CommandContext, words: string, question: string): Promise<boolean> {
  const answer = await ask(context, `${question} [y]es · [n]o (Enter: no): `, (lines) => {
    context.output.note(words);
    lines.forgetTypedAhead();
  });
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

/** Returns the index of the chosen entry. Enter chooses the first. */
export async function chooseFrom(context: CommandContext, question: string, choices: readonly string[]): Promise<number> {
  context.output.say(question);
  for (const [at, words] of choices.entries()) context.output.say(`  ${at + 1}. ${words}`);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const answer = (await askLine(context, `Number (Enter: 1): `)).trim();
    const at = answer === '' ? 0 : Number(answer) - 1;
    if (Number.isInteger(at) && at >= 0 && at < choices.length) return at;
    context.output.say(`Please type a number from 1 to ${choices.length}.`);
  }
  throw new AppError('invalid_params', 'None of the choices was taken; nothing was changed.');
}
