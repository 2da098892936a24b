// Numbers of the calculator: whole numbers are exact, all others are 64-bit floats. Pure.

import { err, ok, type Result } from '../../base/result.ts';

/** A bigint is exact; a number is a float that may have been rounded. */
export type CalcNumber = bigint | number;

// About 3,000 decimal digits: enough for any real question, too few to stall the machine.
const BITS_MAX = 10_000;

export function binary(operator: string, a: CalcNumber, b: CalcNumber): Result<CalcNumber, string> {
  if (typeof a === 'bigint' && typeof b === 'bigint') return exact(operator, a, b);
  return real(float(operator, Number(a), Number(b)), operator === '/' || operator === '%' ? Number(b) === 0 : false);
}

export function negate(value: CalcNumber): CalcNumber {
  return -value;
}

/** Refuses values that are not usable numbers. */
export function real(value: number, isZeroDivision = false): Result<number, string> {
  if (isZeroDivision) return err('division by zero');
  if (Number.isNaN(value)) return err('the result is not a real number');
  if (!Number.isFinite(value)) return err('the result is too large');
  return ok(value);
}

export function formatNumber(value: CalcNumber): string {
  return Object.is(value, -0) ? '0' : String(value);
}

function exact(operator: string, a: bigint, b: bigint): Result<CalcNumber, string> {
  switch (operator) {
    case '+':
      return bounded(a + b);
    case '-':
      return bounded(a - b);
    case '*':
      return bitLength(a) + bitLength(b) > BITS_MAX + 1 ? err('the result is too large') : ok(a * b);
    case '/':
      if (b === 0n) return err('division by zero');
      return a % b === 0n ? ok(a / b) : real(Number(a) / Number(b));
    case '%':
      return b === 0n ? err('division by zero') : ok(a % b);
    default:
      return power(a, b);
  }
}

function power(base: bigint, exponent: bigint): Result<CalcNumber, string> {
  if (exponent < 0n) return real(Number(base) ** Number(exponent), base === 0n);
  if (base === 0n || base === 1n) return ok(exponent === 0n ? 1n : base);
  if (base === -1n) return ok(exponent % 2n === 0n ? 1n : -1n);
  if (BigInt(bitLength(base) - 1) * exponent > BigInt(BITS_MAX)) return err('the result is too large');
  return ok(base ** exponent);
}

function float(operator: string, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return a % b;
    default:
      return a ** b;
  }
}

function bounded(value: bigint): Result<bigint, string> {
  return bitLength(value) > BITS_MAX ? err('the result is too large') : ok(value);
}

function bitLength(value: bigint): number {
  const digits = (value < 0n ? -value : value).toString(16);
  return digits.length * 4;
}
