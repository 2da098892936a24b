// docs/reference/events.md: the events of the log, grouped by family.

import * as z from 'zod';
import { eventBodySchemas, eventTypes } from '../../core/contracts/events.ts';
import { code, fieldWords, page, table } from './markdown.ts';

export function eventPage(): string {
  const families = [...new Set(eventTypes.map((type) => type.split('.')[0] ?? type))];
  const body = [
    'The log records what happened, in the past tense. Bodies only grow: a field may be added, none is changed or removed. A field that ends',
    'in `?` may be absent. `trayclaw activity events ID` shows the events of a turn.',
    '',
    ...families.flatMap((family) => [
      `## ${family}`,
      '',
      ...table(
        ['event', 'body'],
        eventTypes.filter((type) => type.split('.')[0] === family).map((type) => [code(type), fieldWords(schemaOf(type))]),
      ),
    ]),
  ];
  return page({ title: 'Events', source: 'the event schemas (`core/contracts/events.ts`)', body });
}

function schemaOf(type: (typeof eventTypes)[number]): unknown {
  return z.toJSONSchema(eventBodySchemas[type], { io: 'output', unrepresentable: 'any' });
}
