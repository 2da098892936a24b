// A feature in one file: a setting, an event, rows of its own, an operation and a tool. Put it beside an installed trayclaw, name it under
// plugins.files in config.yaml, look at it with `trayclaw plugins list` and approve it as it is.

import { defineFeature, defineTool } from 'trayclaw';
import * as z from 'zod';

const noted = z.object({ city: z.string(), degrees: z.number() });

export const feature = defineFeature({
  name: 'weather',
  settings: z.strictObject({ unit: z.enum(['celsius', 'fahrenheit']).default('celsius') }),
  events: { noted },
  operations: {
    report: {
      about: 'Says what was last noted of a city.',
      params: z.strictObject({ city: z.string().min(1).max(100) }),
      result: z.object({ city: z.string(), degrees: z.number().nullable(), unit: z.string() }),
    },
  },
  migrations: [
    {
      id: 'weather-001',
      up: (db) => db.exec('CREATE TABLE IF NOT EXISTS weather_cities (city TEXT PRIMARY KEY, degrees REAL NOT NULL) STRICT'),
    },
  ],
  rows: (db) => ({
    apply: ({ body }) => {
      const { city, degrees } = noted.parse(body);
      db.run('INSERT INTO weather_cities VALUES (?, ?) ON CONFLICT (city) DO UPDATE SET degrees = excluded.degrees', city, degrees);
    },
    degreesIn: (city) =>
      z.array(z.object({ degrees: z.number() })).parse(db.all('SELECT degrees FROM weather_cities WHERE city = ?', city))[0]?.degrees ??
      null,
  }),
  create: ({ settings, record }, rows) => {
    const shown = (celsius) => (celsius === null || settings.unit === 'celsius' ? celsius : celsius * 1.8 + 32);
    return {
      handlers: {
        report: ({ city }) => ({ city, degrees: shown(rows.degreesIn(city)), unit: settings.unit }),
      },
      tools: [
        defineTool({
          name: 'note_weather',
          description: 'Notes the temperature in a city.',
          input: z.strictObject({ city: z.string().min(1).max(100), degrees: z.number() }),
          class: 'write',
          idempotency: () => 'idempotent',
          facts: () => ({ class: 'write', paths: [], command: null, hosts: [] }),
          summarize: ({ city }) => `note the weather in ${city}`,
          run: (args) => {
            record('noted', args);
            return Promise.resolve({ forModel: 'Noted.' });
          },
        }),
      ],
    };
  },
});
