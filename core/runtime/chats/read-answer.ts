// Parses a person's text as the answer to a question of an MCP server. Pure.

import { AppError } from '../../contracts/errors.ts';
import { contentOf, type Given, type QuestionContent, type QuestionField } from '../../contracts/question-fields.ts';

/** Parses the value of the only field, or one line `name: value` per field. Fails with invalid_params. */
export function readAnswer(fields: readonly QuestionField[], text: string): QuestionContent {
  const [only] = fields;
  if (only !== undefined && fields.length === 1) return contentOf(fields, { [only.name]: valueOf(only, text.trim()) });
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const given = lines.map((line): [string, Given] => {
    const [, name = '', value = ''] = /^([^:]+):(.*)$/.exec(line) ?? [];
    const field = fields.find((one) => [one.name, one.title].some((known) => isSame(known, name)));
    if (field === undefined) {
      throw new AppError('invalid_params', `"${line.trim().slice(0, 60)}" names no field of the question.`, {
        hint: `Write a line for each field: ${fields.map((one) => `${one.name}: …`).join(' · ')}`,
      });
    }
    return [field.name, valueOf(field, value.trim())];
  });
  return contentOf(fields, Object.fromEntries(given));
}

function valueOf({ kind, choices, name }: QuestionField, text: string): Given {
  if (kind === 'yes') {
    if (/^(?:yes|y|true|no|n|false)$/i.test(text)) return /^[yt]/i.test(text);
    throw new AppError('invalid_params', `${name} is answered with yes or no.`);
  }
  const chosen = (word: string): string => choices.find(({ value, title }) => isSame(value, word) || isSame(title, word))?.value ?? word;
  return kind === 'several' ? text.split(',').map((word) => chosen(word.trim())) : chosen(text);
}

const isSame = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase();
