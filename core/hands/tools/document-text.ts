// The text of a document that is not a text file: a PDF or an office document.

export interface DocumentText {
  /** Null if the document has none. */
  readonly title: string | null;
  readonly pages: readonly string[];
  /** The kind of the pages; null if there is one page with the whole text, in Markdown. */
  readonly unit: 'page' | 'slide' | null;
  /** Why there is no text, as a sentence; null if there is some. */
  readonly problem: string | null;
}
