// The fields of a question of an MCP server, read from the schema it sent. Also the answers that need one press, and the content of a
// filled-in form as the server expects it. Used by every door. Pure.

import { isPlainObject } from '../base/json.ts';

export type Given = string | boolean | readonly string[];
export type QuestionContent = Record<string, string | number | boolean | string[]>;

interface Choice {
  readonly value: string;
  readonly title: string;
}

export interface QuestionField {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** one, several: chosen from the choices. yes: a check box. */
  readonly kind: 'text' | 'number' | 'yes' | 'one' | 'several';
  readonly isWhole: boolean;
  readonly choices: readonly Choice[];
  readonly isNeeded: boolean;
  readonly standard: unknown;
}

export function fieldsOf(schema: Readonly<Record<string, unknown>> | null): readonly QuestionField[] {
  const properties = isPlainObject(schema?.['properties']) ? schema['properties'] : {};
  const needed: readonly unknown[] = Array.isArray(schema?.['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, given]) => {
    const about = isPlainObject(given) ? given : {};
    const isSeveral = about['type'] === 'array';
    const choices = choicesOf(isSeveral && isPlainObject(about['items']) ? about['items'] : about);
    return {
      name,
      title: textOf(about['title']) || name,
      about: textOf(about['description']),
      kind: isSeveral ? 'several' : choices.length > 0 ? 'one' : kindOf(about['type']),
      isWhole: about['type'] === 'integer',
      choices,
      isNeeded: needed.includes(name),
      standard: about['default'],
    };
  });
}

/** Empty fields are omitted, so the server's default applies. */
export function contentOf(fields: readonly QuestionField[], given: Readonly<Record<string, Given>>): QuestionContent {
  const entries = fields.flatMap(({ name, kind }): [string, QuestionContent[string]][] => {
    const value = given[name];
    if (value === undefined || value === '') return [];
    if (kind === 'number') return [[name, Number(value)]];
    return [[name, typeof value === 'object' ? [...value] : value]];
  });
  return Object.fromEntries(entries);
}

export interface QuickAnswer {
  readonly label: string;
  /** Null if the person is asked to open an address. */
  readonly content: QuestionContent | null;
}

const QUICK_MAX = 8;

/** The answers that need only one press; none if the person has to write something. */
export function quickAnswers(question: {
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly url: string | null;
}): readonly QuickAnswer[] {
  if (question.url !== null) return [{ label: 'Done', content: null }];
  const fields = fieldsOf(question.schema);
  const [only] = fields;
  if (only === undefined) return [{ label: 'Yes', content: {} }];
  if (fields.length === 1 && only.kind === 'yes') {
    return [true, false].map((is) => ({ label: is ? 'Yes' : 'No', content: { [only.name]: is } }));
  }
  if (fields.length === 1 && only.kind === 'one' && only.choices.length <= QUICK_MAX) {
    return only.choices.map(({ value, title }) => ({ label: title, content: { [only.name]: value } }));
  }
  return fields.every(({ isNeeded, standard }) => !isNeeded || standard !== undefined) ? [{ label: 'Send as it is', content: {} }] : [];
}

function kindOf(type: unknown): QuestionField['kind'] {
  if (type === 'boolean') return 'yes';
  return type === 'number' || type === 'integer' ? 'number' : 'text';
}

function choicesOf(about: Readonly<Record<string, unknown>>): readonly Choice[] {
  const names = about['enumNames'];
  if (Array.isArray(about['enum'])) {
    return about['enum'].map((value: unknown, at) => ({
      value: String(value),
      title: (Array.isArray(names) && textOf(names[at])) || String(value),
    }));
  }
  const named = about['oneOf'] ?? about['anyOf'];
  if (!Array.isArray(named)) return [];
  return named.filter(isPlainObject).map((one) => ({ value: String(one['const']), title: textOf(one['title']) || String(one['const']) }));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
