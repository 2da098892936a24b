// Asks the person at the terminal one yes-or-no question. Makes no decision.

import type { CommandContext } from './command-context.ts';
import { LineReader } from './line-reader.ts';

/** Silence and Enter count as no. */
export async function confirmed(context: CommandContext, words: string, question: string): Promise<boolean> {
  const lines = await LineReader.open(context.io);
  const gone = new AbortController();
  const stopListening = lines.onInterrupt(() => gone.abort());
  try {
    context.output.note(words);
    lines.forgetTypedAhead();
    const answer = await lines.ask(`${question} [y]es · [n]o (Enter: no): `, gone.signal);
    return /^y(es)?$/i.test(answer?.trim() ?? '');
  } finally {
    stopListening();
    lines.close();
  }
}
