// The messages between the page and the worker that highlights code.

/** The kinds of tokens that a theme colours; everything else is plain. */
export const codeKinds = ['keyword', 'string', 'comment', 'constant', 'function', 'parameter', 'punctuation', 'link'] as const;
export type CodeKind = (typeof codeKinds)[number];

/** A piece of a line with its kind; null for plain text. */
export type CodeToken = readonly [text: string, kind: CodeKind | null];
export type CodeLines = readonly (readonly CodeToken[])[];

export interface CodeRequest {
  readonly id: number;
  readonly language: string;
  readonly text: string;
}

export interface CodeReply {
  readonly id: number;
  /** Null if the language is unknown or its grammar could not be loaded. */
  readonly lines: CodeLines | null;
}
