// Parses and evaluates one arithmetic expression by recursive descent. Pure, bounded in length and depth, no eval. Precedence, loosest
// first: + -, * / %, unary + -, ^ and ** (right to left; -2^2 is -4 as on paper).

import { err, ok, type Result } from '../../base/result.ts';
import { calcConstants, calcFunctions } from './calc-functions.ts';
import { binary, negate, type CalcNumber } from './calc-number.ts';

export interface CalcProblem {
  readonly message: string;
  /** Position in the expression, counted from 1. */
  readonly position: number;
}

interface Token {
  readonly kind: 'number' | 'name' | 'operator' | 'end';
  readonly text: string;
  readonly at: number;
}

const DEPTH_MAX = 200;
const numberPattern = /(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+)?/y;
const namePattern = /[\p{L}][\p{L}\d]*/uy;
const operatorPattern = /\*\*|[-+*/%^(),×÷−·]/y;
const sameOperators: ReadonlyMap<string, string> = new Map([
  ['**', '^'],
  ['×', '*'],
  ['·', '*'],
  ['÷', '/'],
  ['−', '-'],
]);

export function evaluate(expression: string): Result<CalcNumber, CalcProblem> {
  try {
    return ok(new Parser(tokenize(expression)).parse());
  } catch (cause) {
    if (cause instanceof CalcFailure) return err({ message: cause.message, position: cause.at + 1 });
    throw cause;
  }
}

/** Aborts the descent from any depth; never leaves this file. */
class CalcFailure extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(expression)?.[0] ?? null;
  };
  while (at < expression.length) {
    if (/\s/.test(expression.charAt(at))) {
      at += 1;
      continue;
    }
    const number = take(numberPattern);
    const name = number === null ? take(namePattern) : null;
    const operator = number === null && name === null ? take(operatorPattern) : null;
    const text = number ?? name ?? operator;
    if (text === null) throw new CalcFailure(`"${String.fromCodePoint(expression.codePointAt(at) ?? 32)}" means nothing here`, at);
    const kind = number !== null ? 'number' : name !== null ? 'name' : 'operator';
    tokens.push({ kind, text: sameOperators.get(text) ?? text, at });
    at += text.length;
  }
  tokens.push({ kind: 'end', text: '', at: expression.length });
  return tokens;
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): CalcNumber {
    if (this.#peek().kind === 'end') throw new CalcFailure('the expression is empty', 0);
    const value = this.#sum();
    const rest = this.#peek();
    if (rest.kind !== 'end') throw new CalcFailure(`expected an operator before "${rest.text}"`, rest.at);
    return value;
  }

  #sum(): CalcNumber {
    return this.#leftToRight(['+', '-'], () => this.#product());
  }

  #product(): CalcNumber {
    return this.#leftToRight(['*', '/', '%'], () => this.#signed());
  }

  #leftToRight(operators: readonly string[], operand: () => CalcNumber): CalcNumber {
    let value = operand();
    for (;;) {
      const operator = this.#takeOperator(operators);
      if (operator === null) return value;
      value = settle(binary(operator.text, value, operand()), operator.at);
    }
  }

  #signed(): CalcNumber {
    const sign = this.#takeOperator(['+', '-']);
    if (sign === null) return this.#power();
    return this.#deeper(sign.at, () => {
      const value = this.#signed();
      return sign.text === '-' ? negate(value) : value;
    });
  }

  #power(): CalcNumber {
    const base = this.#atom();
    const operator = this.#takeOperator(['^']);
    if (operator === null) return base;
    const exponent = this.#deeper(operator.at, () => this.#signed());
    return settle(binary('^', base, exponent), operator.at);
  }

  #atom(): CalcNumber {
    const token = this.#take();
    if (token.kind === 'number') return numberOf(token);
    if (token.kind === 'name') return this.#named(token);
    if (token.text === '(') {
      const value = this.#deeper(token.at, () => this.#sum());
      this.#expect(')', token);
      return value;
    }
    throw new CalcFailure(token.kind === 'end' ? 'the expression ends too early' : `expected a number before "${token.text}"`, token.at);
  }

  #named(name: Token): CalcNumber {
    const lower = name.text.toLowerCase();
    const constant = calcConstants.get(lower);
    if (constant !== undefined) return constant;
    const found = calcFunctions.get(lower);
    if (found === undefined) {
      throw new CalcFailure(
        `"${name.text.slice(0, 40)}" is not known; there are ${[...calcFunctions.keys()].join(', ')}, pi and e`,
        name.at,
      );
    }
    const open = this.#take();
    if (open.text !== '(') throw new CalcFailure(`${lower} needs its value in parentheses`, open.at);
    const args = this.#deeper(open.at, () => this.#arguments(open));
    if (args.length < found.argsMin || args.length > found.argsMax) {
      const count = found.argsMin === found.argsMax ? `${found.argsMin}` : `${found.argsMin} to ${found.argsMax}`;
      throw new CalcFailure(`${lower} takes ${count} ${count === '1' ? 'value' : 'values'}, not ${args.length}`, name.at);
    }
    return settle(found.apply(args), name.at);
  }

  #arguments(open: Token): CalcNumber[] {
    const args: CalcNumber[] = [];
    if (this.#takeOperator([')']) !== null) return args;
    do args.push(this.#sum());
    while (this.#takeOperator([',']) !== null);
    this.#expect(')', open);
    return args;
  }

  #deeper<T>(at: number, inside: () => T): T {
    if (++this.#depth > DEPTH_MAX) throw new CalcFailure('the expression is nested too deeply', at);
    const value = inside();
    this.#depth -= 1;
    return value;
  }

  #expect(text: string, opened: Token): void {
    const token = this.#take();
    if (token.text === text) return;
    if (token.kind === 'end') throw new CalcFailure('this parenthesis is never closed', opened.at);
    throw new CalcFailure(`expected an operator before "${token.text}"`, token.at);
  }

  #takeOperator(texts: readonly string[]): Token | null {
    const token = this.#peek();
    return token.kind === 'operator' && texts.includes(token.text) ? this.#take() : null;
  }

  #take(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#next += 1;
    return token;
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { kind: 'end', text: '', at: 0 };
  }
}

function numberOf(token: Token): CalcNumber {
  const digits = token.text.replaceAll('_', '');
  return /^\d+$/.test(digits) ? BigInt(digits) : settle(finite(Number(digits)), token.at);
}

function finite(value: number): Result<CalcNumber, string> {
  return Number.isFinite(value) ? ok(value) : err('this number is too large');
}

function settle(result: Result<CalcNumber, string>, at: number): CalcNumber {
  if (result.ok) return result.value;
  throw new CalcFailure(result.error, at);
}
