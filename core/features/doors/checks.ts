// The health check of the doors: reports tokens that are no longer used and tokens of closed doors. Reports nothing if there are no tokens.

import { counted } from '../../base/counted.ts';
import type { DoorTokenView, TokenDoor } from '../../contracts/features/doors.ts';
import { warning, well, type HealthSource } from '../../contracts/health.ts';

const UNUSED_DAYS = 90;
const DAY_MS = 24 * 3600_000;

export interface DoorsSeen {
  readonly tokens: readonly DoorTokenView[];
  readonly nowMs: number;
  readonly isOpen: (door: TokenDoor) => boolean;
}

export function doorChecks(look: () => DoorsSeen): HealthSource {
  return {
    check: () => {
      const { tokens, nowMs, isOpen } = look();
      if (tokens.length === 0) return [];
      const stale = tokens.filter(({ createdAtMs, lastUsedAtMs }) => nowMs - (lastUsedAtMs ?? createdAtMs) > UNUSED_DAYS * DAY_MS);
      const shut = tokens.filter(({ door }) => !isOpen(door));
      if (stale.length > 0) {
        const [first] = stale;
        const names = stale.map(({ name }) => name).join(', ');
        const unused = `${counted(stale.length, 'program has', 'programs have')} a token that was not used for ${UNUSED_DAYS} days: ${names}.`;
        return [warning('doors', unused, `trayclaw doors token revoke ${first?.name ?? ''}`)];
      }
      if (shut.length > 0) {
        const names = shut.map(({ name, door }) => `${name} (${door})`).join(', ');
        return [warning('doors', `The door is closed for ${names}.`, 'trayclaw doors list')];
      }
      return [
        well('doors', `${counted(tokens.length, 'program has', 'programs have')} a token: ${tokens.map(({ name }) => name).join(', ')}.`),
      ];
    },
  };
}
