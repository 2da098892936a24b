// Finds formulas in markdown: $…$ and \(…\) in a line, $$…$$ and \[…\] as a block. Rules for the parser; nothing is rendered here. A dollar
// sign means money unless it directly precedes text, its partner directly follows text, and no digit comes after (as in pandoc).

/** Longer ones are shown as text. */
const sourceMax = 4000;
const inlineRules: readonly RegExp[] = [
  /^\$\$(?!\s*\$)([^$]{1,4000}?)\$\$/,
  /^\$(?![\s$])((?:\\[^\n]|[^\\$\n]){1,1000}?)(?<![\s\\])\$(?!\d)/,
  /^\\\(((?:[^\\\n]|\\(?!\)))[^\n]{0,1000}?)\\\)/,
];
const blockRules: readonly RegExp[] = [/^\$\$\s*([^$]{1,4000}?)\s*\$\$[ \t]*(?:\n+|$)/, /^\\\[\s*([\s\S]{1,4000}?)\s*\\\][ \t]*(?:\n+|$)/];

interface FormulaToken {
  readonly type: 'formula' | 'formulaBlock';
  readonly raw: string;
  readonly text: string;
}

function firstMatch(rules: readonly RegExp[], source: string): RegExpExecArray | null {
  for (const rule of rules) {
    const match = rule.exec(source);
    if (match !== null && (match[1]?.length ?? 0) <= sourceMax) return match;
  }
  return null;
}

function toToken(type: FormulaToken['type'], match: RegExpExecArray | null): FormulaToken | undefined {
  return match === null ? undefined : { type, raw: match[0], text: (match[1] ?? '').trim() };
}

/** The possible start of the next formula in a line. */
export function findInlineFormula(source: string): number | undefined {
  const found = [source.indexOf('$'), source.indexOf('\\(')].filter((at) => at !== -1);
  return found.length === 0 ? undefined : Math.min(...found);
}

export function readInlineFormula(source: string): FormulaToken | undefined {
  return toToken('formula', firstMatch(inlineRules, source));
}

export function readBlockFormula(source: string): FormulaToken | undefined {
  return toToken('formulaBlock', firstMatch(blockRules, source));
}
