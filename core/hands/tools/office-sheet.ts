// The text of one sheet of a spreadsheet: a line for each row that has something, with its number, under the letters of the columns. Cells are
// separated by tabs. Pure.

const CELLS_MAX = 2_000_000;
/** After a wider gap the cell has the letters of its column, so that one distant cell does not cost thousands of tabs. */
const GAP_MAX = 20;

/** The number of cells that the remaining sheets of a document may show. */
export interface SheetBudget {
  cells: number;
}

export function sheetBudget(): SheetBudget {
  return { cells: CELLS_MAX };
}

export class SheetText {
  readonly #name: string;
  readonly #budget: SheetBudget;
  readonly #lines: string[] = [];
  #width = 0;
  #isCut = false;

  constructor(name: string, budget: SheetBudget) {
    this.#name = name;
    this.#budget = budget;
  }

  /** `row` is its number, or several as `3–9`. `cells` are in the order of their columns, which are counted from 1. */
  put(row: string, cells: readonly (readonly [column: number, text: string])[]): void {
    const filled = cells.filter(([, text]) => text !== '');
    if (filled.length === 0) return;
    this.#budget.cells -= filled.length;
    if (this.#budget.cells < 0) {
      this.#isCut = true;
      return;
    }
    let line = row;
    let at = 0;
    for (const [column, text] of filled) {
      const gap = column - at - 1;
      const isNear = gap <= GAP_MAX;
      line += isNear ? '\t'.repeat(gap + 1) : `\t${lettersOf(column)}: `;
      line += text.replaceAll(/\s+/g, ' ').trim();
      if (isNear && this.#width >= at) this.#width = Math.max(this.#width, column);
      at = column;
    }
    this.#lines.push(line);
  }

  toString(): string {
    const letters = Array.from({ length: this.#width }, (_, index) => `\t${lettersOf(index + 1)}`).join('');
    const end = this.#isCut ? ['[the rest of the sheet is left out]'] : [];
    const rows = this.#lines.length === 0 && !this.#isCut ? ['(empty)'] : [letters, ...this.#lines, ...end];
    return [`# ${this.#name}`, '', ...rows].join('\n');
  }
}

/** `A` for 1, `AA` for 27. */
export function lettersOf(column: number): string {
  let letters = '';
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}

/** 27 for `AA12`; 0 without letters. */
export function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{0,3}/.exec(reference)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64;
  return column;
}
