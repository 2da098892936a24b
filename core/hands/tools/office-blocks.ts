// Collects the paragraphs and tables of a document as Markdown. Paragraphs may be inside paragraphs (text boxes) and tables inside tables.

interface Block {
  readonly text: string;
  /** Items of one list follow each other without an empty line. */
  readonly isItem: boolean;
}

interface Paragraph {
  mark: string;
  text: string;
}

export class OfficeBlocks {
  /** The document, and the table cells that are open in it. */
  readonly #flows: Block[][] = [[]];
  readonly #paragraphs: Paragraph[] = [];
  /** The rows of the tables that are open. */
  readonly #tables: string[][][] = [];
  readonly #gap: string;

  /** `gap` separates two paragraphs. */
  constructor(gap = '\n\n') {
    this.#gap = gap;
  }

  /** `mark` comes before its text, such as `## ` or `- `. */
  beginParagraph(mark = ''): void {
    this.#paragraphs.push({ mark, text: '' });
  }

  mark(mark: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined) paragraph.mark = mark;
  }

  /** Text outside of a paragraph is only the layout of the source. */
  add(text: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined) paragraph.text += text;
  }

  endParagraph(): void {
    const { mark = '', text = '' } = this.#paragraphs.pop() ?? {};
    if (text.trim() === '') return;
    const isHeading = mark.startsWith('#');
    this.#put({ text: mark + (isHeading ? text.replaceAll(/\s+/g, ' ').trim() : text.trimEnd()), isItem: /^\s*- /.test(mark) });
  }

  beginTable(): void {
    this.#tables.push([]);
  }

  beginRow(): void {
    this.#tables.at(-1)?.push([]);
  }

  beginCell(): void {
    this.#flows.push([]);
  }

  endCell(): void {
    if (this.#flows.length < 2) return;
    const text = textOf(this.#flows.pop() ?? [], ' ').replaceAll(/\s+/g, ' ');
    this.#tables
      .at(-1)
      ?.at(-1)
      ?.push(text.replaceAll('|', String.raw`\|`));
  }

  endTable(): void {
    const rows = (this.#tables.pop() ?? []).filter((row) => row.some((cell) => cell !== ''));
    const [first = [], ...others] = rows.map((row) => `| ${row.join(' | ')} |`);
    const rule = `|${'---|'.repeat(Math.max(1, rows[0]?.length ?? 0))}`;
    if (rows.length > 0) this.#put({ text: [first, rule, ...others].join('\n'), isItem: false });
  }

  #put(block: Block): void {
    this.#flows.at(-1)?.push(block);
  }

  toString(): string {
    return textOf(this.#flows[0] ?? [], this.#gap);
  }
}

function textOf(blocks: readonly Block[], gap: string): string {
  let text = '';
  let before: Block | undefined;
  for (const block of blocks) {
    text += before === undefined ? block.text : (before.isItem && block.isItem ? '\n' : gap) + block.text;
    before = block;
  }
  return text;
}
