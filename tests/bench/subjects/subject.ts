// The subject of a measurement: runs one turn against the scripted model. TrayClaw and its peers implement this interface, so that the same
// code measures them all.

import type { Script } from '../model-server/model-server.ts';
import type { WireFormat } from '../model-server/replies.ts';

export interface SubjectPlace {
  /** The base address of the model, including its version part. */
  readonly baseUrl: string;
  readonly format: WireFormat;
  readonly script: Script;
  /** The file TrayClaw's library is loaded from. */
  readonly libraryFile: string;
  /** An empty folder on disk for the subject's data. */
  readonly folder: string;
  /** Whether all turns share one session, or each has a new one. */
  readonly session: 'growing' | 'fresh';
}

export interface Subject {
  /** Resolves when the turn is over; rejects if its answer is not the scripted one. */
  turn(text: string): Promise<void>;
  /** Milliseconds spent so far in commits that waited for the disk; 0 if the subject never waits or cannot report it. */
  syncMs(): number;
  close(): Promise<void>;
}

export type OpenSubject = (place: SubjectPlace) => Promise<Subject>;

export const prompt = (turn: number): string =>
  `Turn ${turn}: please look at the state of item ${turn} and tell me in one or two lines what changed since the last time we spoke about it.`;

export function assertAnswer(text: string): void {
  if (!text.startsWith('word0')) throw new Error(`the answer is not the scripted one: ${text.slice(0, 200)}`);
}

/** The system prompt of subjects that take one; TrayClaw has a longer one. */
export const systemText = 'You are a helpful assistant.';
