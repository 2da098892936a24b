// Dead letters: failed turns that are kept. Unattended ones are retried once the cause may have passed; the others wait for a person.

import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { letterChecks } from './checks.ts';
import { DeadLetters } from './letters.ts';
import { createDeadLetterOps } from './ops.ts';
import { deadLetterMigrations, DeadLetterRows } from './rows.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'later' | 'ids' | 'logger' | 'log' | 'panic' | 'turns'>;

export const deadLetters = defineBuiltInFeature({
  name: 'dead-letters',
  migrations: deadLetterMigrations,
  rows: ({ db }) => new DeadLetterRows(db),
  create: ({ config, later, turns, ...spine }: Taken, rows: DeadLetterRows) => {
    const letters = new DeadLetters({
      ...spine,
      rows,
      random: Math.random,
      config: config.deadLetters,
      retry: (turnId, by) => turns.retry(turnId, { model: null, by }),
      takeUpEnded: (turnId, by) => turns.takeUpEnded(turnId, by),
      after: later,
    });
    return {
      handlers: createDeadLetterOps(letters),
      checks: [letterChecks(() => letters.counts())],
      takeUp: () => {
        letters.begin();
      },
      catchUp: () => letters.catchUp(),
      dispose: () => {
        letters.dispose();
      },
    };
  },
});
