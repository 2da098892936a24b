// Builds the grammars (GBNF) of a tool call (the name of an offered tool, and arguments that its schema allows) and of an answer with a
// schema. Pure. Where a grammar cannot express the schema, any JSON value of the type is allowed: arguments and answers are validated
// anyway.

import { isPlainObject } from '../../../base/json.ts';
import type { ToolSchema } from '../../../contracts/llm.ts';

type Schema = Readonly<Record<string, unknown>>;

const DEPTH_MAX = 12;
const OPTIONAL_MAX = 24;

const common = `ws ::= | " " | "\\n" [ \\t]*
string ::= "\\"" char* "\\""
char ::= [^"\\\\\\x7F\\x00-\\x1F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])
integer ::= "-"? ("0" | [1-9] [0-9]*)
number ::= integer ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
boolean ::= "true" | "false"
null ::= "null"
value ::= object | array | string | number | boolean | null
object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? ws "}"
array ::= "[" ws (value ("," ws value)*)? ws "]"`;

const basics: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'null']);

export function callGrammar(tools: readonly ToolSchema[]): string {
  const rules = new Rules();
  const calls = tools.map(({ name, parameters }, at) => {
    const args = rules.of({ type: 'object', ...parameters }, 0);
    return rules.add(
      `call-${at}`,
      `"{" ws ${literal('name')} ":" ws ${literal(name)} "," ws ${literal('arguments')} ":" ws ${args} ws "}"`,
    );
  });
  return [`root ::= ws (${calls.join(' | ')})`, ...rules.lines, common].join('\n');
}

/** The grammar of an answer that is one JSON value. */
export function outputGrammar(schema: Schema): string {
  const rules = new Rules();
  const value = rules.of(schema, 0);
  return [`root ::= ws ${value}`, ...rules.lines, common].join('\n');
}

class Rules {
  readonly lines: string[] = [];
  #count = 0;

  add(name: string, body: string): string {
    this.lines.push(`${name} ::= ${body}`);
    return name;
  }

  of(schema: unknown, depth: number): string {
    if (!isPlainObject(schema) || depth > DEPTH_MAX) return 'value';
    if ('const' in schema) return literal(schema['const']);
    const choices = schema['enum'];
    if (Array.isArray(choices) && choices.length > 0) return this.#choice(choices.map(literal));
    const branches = schema['anyOf'] ?? schema['oneOf'];
    if (Array.isArray(branches) && branches.length > 0) return this.#choice(branches.map((branch) => this.of(branch, depth + 1)));
    const { type } = schema;
    if (Array.isArray(type) && type.length > 0)
      return this.#choice(type.map((one: unknown) => this.of({ ...schema, type: one }, depth + 1)));
    if (type === 'object') return this.#object(schema, depth);
    if (type === 'array') return this.#array(schema, depth);
    return typeof type === 'string' && basics.has(type) ? type : 'value';
  }

  #choice(bodies: readonly string[]): string {
    return bodies.length === 1 ? (bodies[0] ?? 'value') : this.#named(bodies.join(' | '));
  }

  #array({ items, minItems }: Schema, depth: number): string {
    const item = this.of(items, depth + 1);
    const some = `${item} ("," ws ${item})*`;
    return this.#named(`"[" ws ${typeof minItems === 'number' && minItems > 0 ? some : `(${some})?`} ws "]"`);
  }

  /** Allows the required properties first, then any of the others, each in the order of the schema. */
  #object({ properties, required, additionalProperties }: Schema, depth: number): string {
    const entries = isPlainObject(properties) ? Object.entries(properties) : [];
    if (entries.length === 0) {
      if (additionalProperties === false || isPlainObject(properties)) return this.#named('"{" ws "}"');
      if (!isPlainObject(additionalProperties)) return 'object';
      const pair = `string ":" ws ${this.of(additionalProperties, depth + 1)}`;
      return this.#named(`"{" ws (${pair} ("," ws ${pair})*)? ws "}"`);
    }
    const needed = new Set(Array.isArray(required) ? required : []);
    const pairs = entries.map(([name, schema]) => ({
      isNeeded: needed.has(name),
      rule: this.#named(`${literal(name)} ":" ws ${this.of(schema, depth + 1)}`),
    }));
    const must = pairs.filter(({ isNeeded }) => isNeeded).map(({ rule }) => rule);
    const may = pairs.filter(({ isNeeded }) => !isNeeded).map(({ rule }) => rule);
    const more = may.slice(0, OPTIONAL_MAX);
    if (must.length > 0) return this.#named(`"{" ws ${must.join(' "," ws ')}${more.map((rule) => ` ("," ws ${rule})?`).join('')} ws "}"`);
    const begins = more.map(
      (rule, at) =>
        `${rule}${more
          .slice(at + 1)
          .map((later) => ` ("," ws ${later})?`)
          .join('')}`,
    );
    return this.#named(`"{" ws (${begins.join(' | ')})? ws "}"`);
  }

  #named(body: string): string {
    this.#count += 1;
    return this.add(`r-${this.#count}`, body);
  }
}

/** Returns the JSON text of a value as a literal of the grammar. */
function literal(value: unknown): string {
  return JSON.stringify(JSON.stringify(value ?? null));
}
