// The answers that every chat service gives in the same words.

import { toAppError } from '../../contracts/errors.ts';

export const chatWords = {
  welcome: 'You are paired. Write what you want done; I ask before anything risky. /help shows what I understand.',
  claimed: (name: string, userId: string) => `Thank you. Now confirm it at the computer: ${name} with the id ${userId}.`,
  wrongCode: 'That code does not hold. A code is for one person and one hour.',
  /** Of a command that the last run of the program did not answer. */
  unsure: (command: string) =>
    `The program ended while it did /${command}, so it may be done or not. See /status, and say it again if it still holds.`,
} as const;

/** Why a message was not accepted, for its sender. Throws the cause where the message must come again: a store error, `shutting_down`. */
export function refusalWords(cause: unknown): string {
  const error = toAppError(cause);
  if (error.code.startsWith('store_') || error.code === 'shutting_down') throw cause;
  return error.told('\n');
}
