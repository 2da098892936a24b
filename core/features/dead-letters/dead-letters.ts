// Dead letters: failed turns that are kept. Unattended ones are retried once the cause may have passed; the others wait for a person.

import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { DeadLetters } from './letters.ts';
import { deadLetterMigrations, DeadLetterRows } from './rows.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import { counted } from '../../base/counted.ts';
import { unwell, warning, well, type Finding, type HealthSource } from '../../contracts/health.ts';

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

function createDeadLetterOps(letters: Pick<DeadLetters, 'list' | 'retry' | 'clear'>) {
  return {
    'dlq.list': ({ limit }) => ({ letters: letters.list(limit ?? 100) }),
    'dlq.retry': ({ letterId }, caller) => letters.retry(letterId, caller.actor),
    'dlq.clear': ({ letterId }, caller) => ({ cleared: letters.clear(letterId ?? null, caller.actor) }),
  } satisfies Partial<OpHandlers>;
}

interface Counts {
  readonly left: number;
  readonly watched: number;
  readonly waiting: number;
}

/** The health check of dead letters: reports failed turns that wait for a person. */
function letterChecks(counts: () => Counts): HealthSource {
  return { check: () => [checkLetters(counts())] };
}

function checkLetters({ left, watched, waiting }: Counts): Finding {
  const trying = waiting === 0 ? '' : ` ${counted(waiting, 'more is', 'more are')} retried automatically.`;
  if (left === 0) return well('dead-letters', waiting === 0 ? 'No turn has failed for good.' : `None waits for you.${trying}`);
  // A person in the window saw their turn fail. The failure of an unattended turn is news.
  if (left === watched) {
    const detail = `${counted(left, 'failed turn that you saw is', 'failed turns that you saw are')} kept for a retry.${trying}`;
    return warning('dead-letters', detail, 'trayclaw dlq list, or trayclaw dlq clear --all');
  }
  return unwell('dead-letters', `${counted(left, 'failed turn waits', 'failed turns wait')} for you.${trying}`, 'trayclaw dlq list');
}
