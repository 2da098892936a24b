// The rows that the shared parts of a chat service read: people, pairings and questions. Types only.

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
  /** Codes that were shown and neither confirmed nor ended, in order of expiry. */
  pairings(): PairingRow[];
}

export interface QuestionRows {
  questionsOf(approvalId: string): QuestionRow[];
  questionByNonce(nonce: string): QuestionRow | null;
  openQuestions(): QuestionRow[];
}

/** The name of the service in addresses and commands, and its display name. */
export interface ServiceNames {
  readonly channel: string;
  readonly title: string;
}
