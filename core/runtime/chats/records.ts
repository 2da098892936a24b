// The rows that the shared parts of a chat service read, and the events they record: people, pairings and questions. Types only.

import type { AnyDraft } from '../../contracts/events.ts';

export interface Person {
  readonly userId: string;
  readonly chatId: string;
  readonly name: string;
  readonly pairedAtMs: number;
}

export interface PairingRow {
  readonly pairingId: string;
  readonly codeHash: string;
  readonly expiresAtMs: number;
  readonly userId: string | null;
  readonly chatId: string | null;
  readonly name: string | null;
}

export interface QuestionRow {
  readonly approvalId: string;
  readonly userId: string;
  readonly chatId: string;
  readonly nonce: string;
  readonly outboundId: string;
  readonly askedAtMs: number;
  /** Null until it has arrived in the chat. */
  readonly messageId: string | null;
  readonly closed: boolean;
  /** How often it was sent, and whether the last delivery is uncertain. */
  readonly asks: number;
  readonly lost: boolean;
}

export interface PeopleRows {
  people(): Person[];
  person(userId: string): Person | null;
  /** Codes that were shown and neither confirmed nor ended, the first to expire first. */
  pairings(): PairingRow[];
}

export interface QuestionRows {
  questionsOf(approvalId: string): QuestionRow[];
  questionByNonce(nonce: string): QuestionRow | null;
  openQuestions(): QuestionRow[];
}

/** The name of the service in addresses, for people, and in commands. */
export interface ServiceNames {
  readonly channel: string;
  readonly title: string;
  /** Commands that show a pairing code, and the people and codes there are. */
  readonly pairCommand: string;
  readonly listCommand: string;
}

type PersonBody = Omit<Person, 'pairedAtMs'>;

/** The events of a service, as drafts. */
export interface ChatRecords {
  offered(body: { pairingId: string; codeHash: string; expiresAtMs: number; by: string }): AnyDraft;
  claimed(body: PersonBody & { pairingId: string }): AnyDraft;
  ended(body: { pairingId: string; reason: 'expired' | 'refused'; by: string }): AnyDraft;
  paired(body: PersonBody & { pairingId: string; by: string }): AnyDraft;
  revoked(body: { userId: string; by: string }): AnyDraft;
  asked(body: Pick<QuestionRow, 'approvalId' | 'userId' | 'chatId' | 'nonce' | 'outboundId'>): AnyDraft;
  closed(body: Pick<QuestionRow, 'approvalId' | 'userId'>): AnyDraft;
  previewed(body: { turnId: string; chatId: string; messageId: string }): AnyDraft;
}
