// The functions and constants of the calculator. Pure; exact for whole numbers where that is meaningful.

import { err, ok, type Result } from '../../base/result.ts';
import { real, type CalcNumber } from './calc-number.ts';

export interface CalcFunction {
  readonly argsMin: number;
  readonly argsMax: number;
  apply(args: readonly CalcNumber[]): Result<CalcNumber, string>;
}

export const calcConstants: ReadonlyMap<string, number> = new Map([
  ['pi', Math.PI],
  ['π', Math.PI],
  ['e', Math.E],
]);

export const calcFunctions: ReadonlyMap<string, CalcFunction> = new Map<string, CalcFunction>([
  ['sqrt', { argsMin: 1, argsMax: 1, apply: ([value = 0]) => squareRoot(value) }],
  ['sin', ofFloat(Math.sin)],
  ['cos', ofFloat(Math.cos)],
  ['tan', ofFloat(Math.tan)],
  ['log', { argsMin: 1, argsMax: 2, apply: ([value = 0, base]) => logarithm(value, base) }],
  ['ln', ofPositive(Math.log)],
  ['exp', ofFloat(Math.exp)],
  ['abs', { argsMin: 1, argsMax: 1, apply: ([value = 0]) => ok(value < 0 ? -value : value) }],
  ['round', ofRounding(roundAwayFromZero)],
  ['floor', ofRounding(Math.floor)],
  ['ceil', ofRounding(Math.ceil)],
  ['min', { argsMin: 1, argsMax: 1000, apply: (args) => ok(args.reduce((a, b) => (b < a ? b : a))) }],
  ['max', { argsMin: 1, argsMax: 1000, apply: (args) => ok(args.reduce((a, b) => (b > a ? b : a))) }],
]);

function ofFloat(apply: (value: number) => number): CalcFunction {
  return { argsMin: 1, argsMax: 1, apply: ([value = 0]) => real(apply(Number(value))) };
}

function ofPositive(apply: (value: number) => number): CalcFunction {
  return {
    argsMin: 1,
    argsMax: 1,
    apply: ([value = 0]) => (value > 0 ? real(apply(Number(value))) : err('a logarithm needs a number above zero')),
  };
}

/** A rounded result is exact again, whatever its size: floats of that size are whole numbers. */
function ofRounding(apply: (value: number) => number): CalcFunction {
  return { argsMin: 1, argsMax: 1, apply: ([value = 0]) => ok(typeof value === 'bigint' ? value : BigInt(apply(value))) };
}

// Math.round rounds -2.5 to -2; people expect -3.
function roundAwayFromZero(value: number): number {
  return Math.sign(value) * Math.round(Math.abs(value));
}

function squareRoot(value: CalcNumber): Result<CalcNumber, string> {
  if (value < 0) return err('the square root of a negative number is not a real number');
  if (typeof value === 'bigint') {
    const root = wholeRoot(value);
    if (root * root === value) return ok(root);
  }
  return real(Math.sqrt(Number(value)));
}

/** The floor of the square root, by Newton's method. */
function wholeRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

function logarithm(value: CalcNumber, base: CalcNumber | undefined): Result<CalcNumber, string> {
  if (value <= 0) return err('a logarithm needs a number above zero');
  if (base === undefined) return real(Math.log10(Number(value)));
  if (base <= 0 || Number(base) === 1) return err('the base of a logarithm is a number above zero other than one');
  return real(Math.log(Number(value)) / Math.log(Number(base)));
}
