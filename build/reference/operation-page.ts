// docs/reference/operations.md: the operations table with its parameters and results.

import * as z from 'zod';
import { opTable, type OpName } from '../../core/contracts/ops.ts';
import { code, fieldWords, page } from './markdown.ts';
import { operationGroups, operationTexts } from './operation-texts.ts';

export function operationPage(): string {
  const names = Object.keys(opTable) as OpName[];
  const groups = operationGroups.map(([title, families]) => ({ title, ops: names.filter((name) => families.includes(familyOf(name))) }));
  const others = names.filter((name) => !operationGroups.some(([, families]) => families.includes(familyOf(name))));
  const body = [
    'All doors use this table: `POST /api/ops/NAME` over HTTP, `claw.op(NAME, …)` in a program, and the commands. Parameters are strict: an',
    'unknown one is refused. A field that ends in `?` may be absent. See [HTTP](../guide/http.md) and [library](../guide/library.md).',
    '',
    ...[...groups, ...(others.length === 0 ? [] : [{ title: 'More', ops: others }])].flatMap(({ title, ops }) => [
      `## ${title}`,
      '',
      ...ops.flatMap(entry),
    ]),
  ];
  return page({ title: 'Operations', source: 'the operations table (`core/contracts/ops.ts`)', body });
}

function familyOf(name: OpName): string {
  return name.slice(0, name.indexOf('.'));
}

function entry(name: OpName): string[] {
  const words = (schema: z.ZodType, io: 'input' | 'output'): string => fieldWords(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  const { params, result } = opTable[name];
  return [
    `### ${code(name)}`,
    '',
    operationTexts[name],
    '',
    `- Parameters: ${words(params, 'input')}`,
    `- Result: ${words(result, 'output')}`,
    '',
  ];
}
