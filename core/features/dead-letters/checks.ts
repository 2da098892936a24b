// The health check of dead letters: reports failed turns that wait for a person.

import { counted } from '../../base/counted.ts';
import { unwell, warning, well, type Finding, type HealthSource } from '../../contracts/health.ts';

interface Counts {
  readonly left: number;
  readonly watched: number;
  readonly waiting: number;
}

export function letterChecks(counts: () => Counts): HealthSource {
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
