// docs/reference/operations.md: the operations table with its parameters and results.

import * as z from 'zod';
import { opForms, opGroups } from '../../core/contracts/op-forms.ts';
import { opTable, type OpName } from '../../core/contracts/ops.ts';
import { code, fieldWords, page, sentence } from './markdown.ts';

export function operationPage(): string {
  const body = [
    'All doors use this table: `POST /api/ops/NAME` over HTTP, `claw.op(NAME, …)` in a program, and the commands. Parameters are strict: an',
    'unknown one is refused. A field that ends in `?` may be absent. See [HTTP](../guide/http.md) and [library](../guide/library.md).',
    '',
    ...Object.entries(opGroups).flatMap(([title, families]) => [`## ${title}`, '', ...namesIn(families).flatMap(entry)]),
  ];
  return page({ title: 'Operations', source: 'the operations table (`core/contracts/ops.ts`)', body });
}

function namesIn(families: readonly string[]): OpName[] {
  return (Object.keys(opForms) as OpName[]).filter((name) => families.includes(name.split('.')[0] ?? ''));
}

function entry(name: OpName): string[] {
  const words = (schema: z.ZodType, io: 'input' | 'output'): string => fieldWords(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  const { params, result } = opTable[name];
  return [
    `### ${code(name)}`,
    '',
    sentence(opForms[name].about),
    '',
    `- Parameters: ${words(params, 'input')}`,
    `- Result: ${words(result, 'output')}`,
    ...commandLines(name),
    '',
  ];
}

function commandLines(name: OpName): string[] {
  const { commands = {}, forPerson } = opForms[name];
  const lines = Object.keys(commands).map((words) => code(`trayclaw ${words}`));
  return [
    ...(lines.length === 0 ? [] : [`- Command: ${lines.join(', ')}`]),
    ...(forPerson === true ? ['- For a person: refused to a command line that a tool started'] : []),
  ];
}
