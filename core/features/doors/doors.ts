// The tokens of other programs. Each door is also a feature, such as core/features/openai, and gets the tokens from this one.

import { randomBytes } from 'node:crypto';
import { counted } from '../../base/counted.ts';
import { localDay } from '../../base/local-day.ts';
import { doors as callerDoors } from '../../contracts/doors.ts';
import { AppError, noSuch } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { DoorToken, DoorTokenView, TokenDoor } from '../../contracts/features/doors.ts';
import { type HealthSource, warning, well } from '../../contracts/health.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import { defineBuiltInFeature, type Contribution, type Spine } from '../feature.ts';
import { digestOf, DoorTokens } from './door-tokens.ts';
import { doorMigrations, DoorRows, viewOf } from './rows.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'log' | 'ids' | 'panic'> & { readonly contributions: readonly Contribution[] };

const PER_MINUTE = 60;
const TOKENS_MAX = 100;

export const doors = defineBuiltInFeature({
  name: 'doors',
  migrations: doorMigrations,
  rows: ({ db }) => new DoorRows(db),
  create: (spine: Taken, rows: DoorRows) => {
    const { config, clock } = spine;
    const tokens = new DoorTokens(rows, clock, () => config.budget.perTurnUsd);
    const handlers = {
      'door.list': () => {
        const held = rows.tokens();
        const tokensOf = (door: TokenDoor): number => held.filter(({ token }) => token.door === door).length;
        const listed = spine.contributions
          .flatMap((one) => one.doors ?? [])
          .map(({ door, paths }) => {
            return { door, enabled: config.doors[door].enabled, paths: [...paths], tokens: tokensOf(door) };
          });
        return { doors: listed };
      },
      'door.create_token': (params, caller) => {
        const created = createToken(spine, rows, params, caller);
        tokens.reload();
        return created;
      },
      'door.list_tokens': () => {
        const today = localDay(clock.nowMs());
        return { tokens: rows.tokens().map((row) => viewOf(row, today)) };
      },
      'door.revoke_token': ({ token: named }, caller) => {
        const revoked = revokeToken(spine, rows, named, caller);
        tokens.reload();
        return revoked;
      },
    } satisfies Partial<OpHandlers>;
    const seen = (): DoorsSeen => {
      const nowMs = clock.nowMs();
      return { tokens: rows.tokens().map((row) => viewOf(row, localDay(nowMs))), nowMs, isOpen: (door) => config.doors[door].enabled };
    };
    return { handlers, gives: { tokens }, checks: [doorChecks(seen)] };
  },
});

/** Fails for callers without a person, because a token gives other programs access. */
function assertPerson({ channel }: Caller): void {
  if (!callerDoors[channel].isPersonal)
    throw new AppError('forbidden', 'Tokens are made and revoked in the window or on the command line.');
}

function createToken(
  { ids, log, panic }: Taken,
  rows: DoorRows,
  params: OpParsed<'door.create_token'>,
  caller: Caller,
): OpResult<'door.create_token'> {
  assertPerson(caller);
  if (panic.engaged) throw new AppError('panic_engaged', 'No door is opened while everything is stopped.');
  const known = rows.tokens();
  if (known.length >= TOKENS_MAX) throw new AppError('queue_full', `There are ${TOKENS_MAX} tokens already; revoke one first.`);
  const tokenId = ids.next('dtk');
  const name = params.name ?? `client-${known.length + 1}`;
  if (known.some(({ token }) => token.name === name)) {
    const hint = 'Choose another name, or revoke that one: trayclaw doors token revoke NAME';
    throw new AppError('conflict', `There is a token with the name ${name} already.`, { hint });
  }
  const { door, scope: scopes = ['agents'], perMinute = PER_MINUTE, perDayUsd = null } = params;
  const made: DoorToken = { tokenId, door, name, scopes, perMinute, perDayUsd };
  const token = `tcd-${randomBytes(32).toString('base64url')}`;
  const digest = digestOf(token).toString('hex');
  log.append(systemSessionId, [{ type: 'door.token_created', body: { ...made, digest, by: caller.actor } }], true);
  return { ...made, key: token };
}

function revokeToken({ log }: Taken, rows: DoorRows, named: string, caller: Caller): DoorToken {
  assertPerson(caller);
  const tokens = rows.tokens();
  const found = tokens.find(({ token }) => token.tokenId === named || token.name === named);
  if (found === undefined)
    throw noSuch(
      'token',
      named,
      tokens.map(({ token }) => token.name),
      'See: trayclaw doors token list',
    );
  log.append(systemSessionId, [{ type: 'door.token_revoked', body: { tokenId: found.token.tokenId, by: caller.actor } }], true);
  return found.token;
}

// The health check of the doors: reports tokens that are no longer used and tokens of closed doors. Reports nothing if there are no tokens.

const UNUSED_DAYS = 90;
const DAY_MS = 24 * 3600_000;

interface DoorsSeen {
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
