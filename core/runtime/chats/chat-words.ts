// Answers that every chat service words identically.

import { toAppError } from '../../contracts/errors.ts';

export const chatWords = {
  welcome: 'You are paired. Write what you want done; I ask before anything risky. /help shows what I understand.',
  claimed: (name: string, userId: string) => `Thank you. Now confirm it at the computer: ${name} with the id ${userId}.`,
  wrongCode: 'That code is not valid. A code is for one person and one hour.',
  /** For a command that the previous run of the program did not answer. */
  unsure: (command: string) =>
    `The program ended while it did /${command}, so it may be done or not. See /status, and say it again if you still want it.`,
} as const;

/**
 * Explains to the sender why a message was not accepted. Rethrows a store error or `shutting_down`, because the message must be delivered
 * again.
 */
export function refusalWords(cause: unknown): string {
  const error = toAppError(cause);
  if (error.code.startsWith('store_') || error.code === 'shutting_down') throw cause;
  return error.told('\n');
}
