// Highlights a difference by its language without changing the page: the browser draws the colours over the text, so that spelled-out
// characters and marked words stay as they are. Loaded when the first difference is shown.

import type { DiffRow } from './diff-rows.ts';
import type { CodeKind, CodeLines } from './markdown/code-tokens.ts';
import type { Highlighter } from './markdown/highlighter.ts';

/** Comments and punctuation stay plain, so that text for approval is readable. */
const coloured: ReadonlySet<CodeKind | null> = new Set<CodeKind>(['keyword', 'link', 'string', 'constant', 'parameter', 'function']);
const aliases: Partial<Record<CodeKind, string>> = { link: 'keyword', parameter: 'constant' };
/** The file name's extension, by which the highlighter knows languages; empty if there is none. */
export function languageOfFile(name: string): string {
  const base = name.split(/[/\\]/).at(-1) ?? '';
  return base.split('.').slice(1).at(-1)?.toLowerCase() ?? (/^dockerfile$/i.test(base) ? 'docker' : '');
}

export interface ShownDiff {
  readonly rows: readonly DiffRow[];
  /** Yields the elements of a row; an unchanged row is in both columns. */
  elementsOf(row: DiffRow): Iterable<Element>;
}

/** Colours the rows until the returned function is called. Each side is highlighted separately. */
export function colourDiff(shown: ShownDiff, language: string, highlighter: Highlighter): () => void {
  const ending = new AbortController();
  const added: { readonly highlight: Highlight; readonly range: Range }[] = [];
  const read = async (rows: readonly DiffRow[], isColoured: (row: DiffRow) => boolean): Promise<void> => {
    const lines = await highlighter.highlight(rows.map(({ text }) => text).join('\n'), language, ending.signal);
    if (lines === null || ending.signal.aborted) return;
    rows.forEach((row, index) => {
      if (!isColoured(row)) return;
      for (const element of shown.elementsOf(row)) added.push(...colourLine(element, row.text, lines[index] ?? []));
    });
  };
  void read(
    shown.rows.filter(({ kind }) => kind === 'add' || kind === 'same'),
    () => true,
  );
  void read(
    shown.rows.filter(({ kind }) => kind === 'cut' || kind === 'same'),
    ({ kind }) => kind === 'cut',
  );
  return () => {
    ending.abort();
    for (const { highlight, range } of added) highlight.delete(range);
  };
}

/** The sign precedes the text. A line with a spelled-out character stays plain. */
function colourLine(element: Element, line: string, tokens: CodeLines[number]): { highlight: Highlight; range: Range }[] {
  const made: { highlight: Highlight; range: Range }[] = [];
  if (element.textContent.length !== line.length + 1) return made;
  let at = 1;
  for (const [text, kind] of tokens) {
    const range = kind !== null && coloured.has(kind) ? rangeOf(element, at, at + text.length) : null;
    if (range !== null && kind !== null) {
      const highlight = highlightOf(`code-${aliases[kind] ?? kind}`);
      highlight.add(range);
      made.push({ highlight, range });
    }
    at += text.length;
  }
  return made;
}

function highlightOf(name: string): Highlight {
  const known = CSS.highlights.get(name);
  if (known !== undefined) return known;
  const created = new Highlight();
  CSS.highlights.set(name, created);
  return created;
}

/** A range over characters of an element; null if it has fewer. */
function rangeOf(element: Element, from: number, to: number): Range | null {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let passed = 0;
  let isBegun = false;
  while (texts.nextNode() !== null) {
    const node = texts.currentNode;
    const end = passed + (node.nodeValue?.length ?? 0);
    if (!isBegun && from < end) {
      range.setStart(node, from - passed);
      isBegun = true;
    }
    if (isBegun && to <= end) {
      range.setEnd(node, to - passed);
      return range;
    }
    passed = end;
  }
  return null;
}
