import { createContext, runInContext } from 'node:vm';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatNumber } from './calc-number.ts';
import { evaluate } from './calc-parser.ts';

function calc(expression: string): string {
  const value = evaluate(expression);
  return value.ok ? formatNumber(value.value) : `${value.error.position}: ${value.error.message}`;
}

test.each([
  ['1 + 2 * 3', '7'],
  ['(1 + 2) * 3', '9'],
  ['-2 ^ 2', '-4'],
  ['(-2) ** 2', '4'],
  ['2 ^ 3 ^ 2', '512'],
  ['2 ^ -1', '0.5'],
  ['7 / 2', '3.5'],
  ['6 / 2', '3'],
  ['-7 % 3', '-1'],
  ['5.5 % 2', '1.5'],
  ['1_000 * 1_000_000', '1000000000'],
  ['1.5e3 + .5', '1500.5'],
  ['12345678901234567890 * 98765432109876543210', '1219326311370217952237463801111263526900'],
  ['2 ** 200', String(2n ** 200n)],
  ['sqrt(16) + sqrt(2)', String(4 + Math.SQRT2)],
  ['sqrt(15241578753238836750495351562536198787501905199875019052100)', '123456789012345678901234567890'],
  ['sin(0) + cos(0) + tan(0)', '1'],
  ['log(1000)', String(Math.log10(1000))],
  ['log(8, 2)', '3'],
  ['ln(e) + exp(0)', '2'],
  ['abs(-5) + abs(-5.5)', '10.5'],
  ['round(2.5) + round(-2.5) + floor(-1.5) + ceil(1.2)', '0'],
  ['min(3, 1, 2) + max(1, 2.5)', '3.5'],
  ['2 * PI', String(2 * Math.PI)],
  ['3 × 4 ÷ 2 − 1', '5'],
  ['--3', '3'],
  ['0.1 + 0.2', '0.30000000000000004'],
  ['0 * -1.5', '0'],
])('%s = %s', (expression, expected) => {
  expect(calc(expression)).toBe(expected);
});

test.each([
  ['', '1: the expression is empty'],
  ['1 +', '4: the expression ends too early'],
  ['1 / 0', '3: division by zero'],
  ['1.5 % 0', '5: division by zero'],
  ['0 ^ -1', '3: division by zero'],
  ['2 3', '3: expected an operator before "3"'],
  ['(1 + 2', '1: this parenthesis is never closed'],
  ['1 + )', '5: expected a number before ")"'],
  ['2 $ 3', '3: "$" means nothing here'],
  ['foo(1)', '1: "foo" is not known; there are sqrt, sin, cos, tan, log, ln, exp, abs, round, floor, ceil, min, max, pi and e'],
  ['sqrt 4', '6: sqrt needs its value in parentheses'],
  ['sqrt(-1)', '1: the square root of a negative number is not a real number'],
  ['ln(0)', '1: a logarithm needs a number above zero'],
  ['sqrt(1, 2)', '1: sqrt takes 1 value, not 2'],
  ['min()', '1: min takes 1 to 1000 values, not 0'],
  ['9^9^9^9', '4: the result is too large'],
  ['1e400', '1: this number is too large'],
  ['exp(1000)', '1: the result is too large'],
  [
    'constructor',
    '1: "constructor" is not known; there are sqrt, sin, cos, tan, log, ln, exp, abs, round, floor, ceil, min, max, pi and e',
  ],
  ['(-8) ^ 0.5', '6: the result is not a real number'],
])('%s fails: %s', (expression, expected) => {
  expect(calc(expression)).toBe(expected);
});

test('endless nesting is refused and does not crash', () => {
  expect(calc('('.repeat(2000) + '1' + ')'.repeat(2000))).toMatch(/nested too deeply/);
  expect(calc('-'.repeat(2000) + '1')).toMatch(/nested too deeply/);
});

interface Node {
  readonly text: string;
  readonly value: number;
}

test('agrees with JavaScript on float expressions', () => {
  const { node } = fc.letrec<{ node: Node; leaf: Node; pair: Node; negative: Node }>((tie) => ({
    node: fc.oneof({ maxDepth: 5 }, tie('leaf'), tie('pair'), tie('negative')),
    leaf: fc.double({ min: 0.001, max: 1e6, noNaN: true }).map((value) => ({ text: value.toString(), value: value })).filter(({ text }) => /[.e]/.test(text)), // prettier-ignore
    negative: tie('node').map(({ text, value }) => ({ text: `-(${text})`, value: -value })),
    pair: fc.tuple(tie('node'), fc.constantFrom('+', '-', '*', '/', '%'), tie('node')).map(([a, operator, b]) => ({
      text: `(${a.text}) ${operator} (${b.text})`,
      value: { '+': a.value + b.value, '-': a.value - b.value, '*': a.value * b.value, '/': a.value / b.value, '%': a.value % b.value }[operator] ?? 0, // prettier-ignore
    })),
  }));
  fc.assert(
    fc.property(node, ({ text, value }) => {
      const ours = evaluate(text);
      expect(ours.ok ? Number(ours.value) : 'refused').toBe(Number.isFinite(value) ? value : 'refused');
    }),
    { numRuns: 500 },
  );
});

test('agrees with JavaScript on precedence without parentheses', () => {
  const term = fc.integer({ min: 1, max: 99 });
  const operator = fc.constantFrom('+', '-', '*', '%', '**');
  const javaScript = createContext();
  fc.assert(
    fc.property(term, fc.array(fc.tuple(operator, term), { maxLength: 6 }), (first, rest) => {
      const powers = rest.filter(([sign]) => sign === '**').length;
      fc.pre(powers <= 1);
      const ours = evaluate(rest.reduce((text, [sign, value]) => `${text} ${sign} ${value}`, String(first)));
      const exact = rest.reduce((text, [sign, value]) => `${text} ${sign} ${value}n`, `${first}n`);
      // The language's own exact arithmetic is the reference; the text contains only digits and operators.
      const theirs: unknown = runInContext(exact, javaScript);
      expect(ours).toEqual({ ok: true, value: theirs });
    }),
    { numRuns: 500 },
  );
});

test('any text gives a value or a position', () => {
  const unit = fc.constantFrom('1', '2.5', '+', '-', '*', '/', '^', '(', ')', ',', 'sqrt', 'max', 'e', ' ', 'x', '💥');
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 20 }), (parts) => {
      const text = parts.join('');
      const value = evaluate(text);
      expect(value.ok || value.error.position <= text.length + 1).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
