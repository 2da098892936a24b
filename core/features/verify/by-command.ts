// Uses a program of config.yaml as a verifier: it receives the call as JSON on standard input, and prints the verdict as JSON.

import { jsonIn } from '../../base/json.ts';
import { verifierAnswerSchema } from '../../contracts/features/verify.ts';
import { endWords, type AskProgram, type ProgramEnd } from '../../hands/tools/tools.ts';
import type { AskVerifier } from './verifier.ts';

export function verifyByCommand(command: readonly string[], timeoutMs: number, run: AskProgram): AskVerifier {
  return async (subject, _place, signal) => {
    const end = await run(command, JSON.stringify(subject) + '\n', { timeoutMs, signal });
    const problem = problemOf(end);
    if (problem !== null) return { refused: problem };
    const read = verifierAnswerSchema.safeParse(jsonIn(end.output.trim()));
    return read.success ? read.data : { refused: 'the command printed no verdict' };
  };
}

function problemOf({ ending, exitCode, remarks }: ProgramEnd): string | null {
  if (ending === 'timeout') return 'the command took too long and was ended';
  if (ending === 'cancelled') return 'the command was stopped';
  if (ending === 'flooded') return 'the command printed too much and was ended';
  if (exitCode !== 0) return `the command ${endWords(exitCode)}`;
  return remarks.length > 0 ? `the command did what it may not: ${remarks.join('; ')}` : null;
}
