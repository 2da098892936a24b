// Describes the parts of a schema that some model servers reject: limits, formats, lists of values.

/** Longer lengths are never reached by accident, and mentioning them only costs tokens. */
const LENGTH_SAID_MAX = 2000;
const PATTERN_CHARS_MAX = 120;
const VALUES_SAID_MAX = 40;
const DEFAULT_CHARS_MAX = 60;

/** For example "(1–50; default 8)". Empty if there are no limits. */
export function limitWords(schema: Readonly<Record<string, unknown>>, type: string): string {
  const words = [...limitsOf(schema, type), ...defaultWords(schema)];
  return words.length === 0 ? '' : `(${words.join('; ')})`;
}

function limitsOf(schema: Readonly<Record<string, unknown>>, type: string): string[] {
  switch (type) {
    case 'string':
      return [...lengthWords(schema), ...formatWords(schema)];
    case 'number':
    case 'integer':
      return [...rangeWords(schema), ...multipleWords(schema)];
    case 'array':
      return [...countWords(schema, 'minItems', 'maxItems', 'items'), ...(schema['uniqueItems'] === true ? ['no item twice'] : [])];
    case 'object':
      return countWords(schema, 'minProperties', 'maxProperties', 'keys');
    default:
      return [];
  }
}

function lengthWords(schema: Readonly<Record<string, unknown>>): string[] {
  const min = numberOf(schema['minLength'], 2, Infinity);
  const max = numberOf(schema['maxLength'], 0, LENGTH_SAID_MAX);
  if (min !== null && max !== null) return [min === max ? `${min} characters` : `${min}–${max} characters`];
  if (max !== null) return [`at most ${max} characters`];
  return min === null ? [] : [`at least ${min} characters`];
}

function formatWords(schema: Readonly<Record<string, unknown>>): string[] {
  const { format, pattern } = schema;
  // A format with a pattern is described by its name alone, because the pattern only spells it out.
  if (typeof format === 'string' && format !== '') return [`format ${format}`];
  return typeof pattern === 'string' && pattern.length <= PATTERN_CHARS_MAX ? [`matches ${pattern}`] : [];
}

function rangeWords(schema: Readonly<Record<string, unknown>>): string[] {
  const min = numberOf(schema['minimum'], -Number.MAX_SAFE_INTEGER + 1, Infinity);
  const max = numberOf(schema['maximum'], -Infinity, Number.MAX_SAFE_INTEGER - 1);
  const above = numberOf(schema['exclusiveMinimum'], -Infinity, Infinity);
  const below = numberOf(schema['exclusiveMaximum'], -Infinity, Infinity);
  const words = [...(above === null ? [] : [`above ${above}`]), ...(below === null ? [] : [`below ${below}`])];
  if (min !== null && max !== null) return [`${min}–${max}`, ...words];
  // A limit of zero needs no mention.
  return [...(min === null || min === 0 ? [] : [`at least ${min}`]), ...(max === null ? [] : [`at most ${max}`]), ...words];
}

function multipleWords(schema: Readonly<Record<string, unknown>>): string[] {
  const step = numberOf(schema['multipleOf'], -Infinity, Infinity);
  return step === null || step === 1 ? [] : [`a multiple of ${step}`];
}

function countWords(schema: Readonly<Record<string, unknown>>, minWord: string, maxWord: string, what: string): string[] {
  const min = numberOf(schema[minWord], 1, Infinity);
  const max = numberOf(schema[maxWord], 0, LENGTH_SAID_MAX);
  if (min !== null && max !== null) return [min === max ? `${min} ${what}` : `${min}–${max} ${what}`];
  if (max !== null) return [`at most ${max} ${what}`];
  return min === null ? [] : [`at least ${min} ${what}`];
}

function defaultWords(schema: Readonly<Record<string, unknown>>): string[] {
  const { default: fallback, description } = schema;
  if (fallback === undefined || fallback === null || (typeof description === 'string' && /default/i.test(description))) return [];
  const text = JSON.stringify(fallback);
  return text.length > DEFAULT_CHARS_MAX ? [] : [`default ${text}`];
}

/** Values that a server accepts only in a description: "1, 2 or 3". */
export function valueWords(values: readonly unknown[]): string {
  const shown = [...new Set(values)].slice(0, VALUES_SAID_MAX).map((value) => (value === '' ? '"" (empty)' : String(value)));
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`;
}

function numberOf(value: unknown, min: number, max: number): number | null {
  return typeof value === 'number' && value >= min && value <= max ? value : null;
}
