// Pairing: a one-time code shown at the desktop, sent to the agent over a chat service, and confirmed at the desktop. A person is
// identified only by the permanent id that the service assigns in a private chat. Knows no network and no service.

import { createHash, timingSafeEqual } from 'node:crypto';
import { isOver, type Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import { doors } from '../../contracts/doors.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { Caller } from '../../contracts/ops.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { GuessLimit } from './guess-limit.ts';
import type { PairingRow, PeopleRows, Person, ServiceNames } from './records.ts';

/** Excludes 0, O, 1, I and L, which are easily confused. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const CODE_LENGTH = 8;
const CODE_MS = 3_600_000;
const PENDING_MAX = 3;

export interface PairingDeps {
  readonly log: SessionLog;
  readonly store: PeopleRows;
  readonly names: ServiceNames;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Returns a uniformly distributed integer from 0 up to, but not including, `below`. */
  readonly randomInt: (below: number) => number;
}

export type ClaimResult = 'claimed' | 'wrong' | 'too_many';

/** The people of a service, and the codes that were shown and are unused. */
export interface PairedPeople {
  people: Person[];
  pairings: { pairingId: string; expiresAtMs: number; claimedBy: { userId: string; name: string } | null }[];
}

export class Pairing {
  readonly #deps: PairingDeps;
  readonly #guesses: GuessLimit;

  constructor(deps: PairingDeps) {
    this.#deps = deps;
    this.#guesses = new GuessLimit(deps.clock);
  }

  /** Fails with `rate_limited` while three codes are pending. */
  offer(caller: Caller): { pairingId: string; code: string; expiresAtMs: number } {
    const { log, ids, clock, randomInt, names } = this.#deps;
    onlyHere(caller);
    this.#endExpired();
    if (this.#deps.store.pairings().length >= PENDING_MAX) {
      throw new AppError('rate_limited', `${PENDING_MAX} pairing codes are already pending.`, {
        hint: 'Confirm or refuse one (trayclaw channels people), or wait an hour.',
      });
    }
    const code = Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)] ?? '').join('');
    const pairingId = ids.next('pair');
    const expiresAtMs = clock.nowMs() + CODE_MS;
    const body = { channel: names.channel, pairingId, codeHash: hashCode(pairingId, code), expiresAtMs, by: caller.actor };
    log.append(systemSessionId, [{ type: 'channel.pairing_offered', body }], true);
    return { pairingId, code, expiresAtMs };
  }

  /** Checks a text that has the form of a code. The returned drafts must be recorded in the transaction of the update. */
  claim(text: string, from: { userId: string; chatId: string; name: string }): { result: ClaimResult; drafts: AnyDraft[] } {
    if (this.#guesses.isReached(from.userId)) return { result: 'too_many', drafts: [] };
    const code = text.toUpperCase();
    const nowMs = this.#deps.clock.nowMs();
    const offered = this.#deps.store.pairings().find((row) => row.userId === null && !hasExpired(row, nowMs) && holds(row, code));
    if (offered === undefined) {
      this.#guesses.count(from.userId);
      return { result: 'wrong', drafts: [] };
    }
    const body = { channel: this.#deps.names.channel, pairingId: offered.pairingId, ...from };
    return { result: 'claimed', drafts: [{ type: 'channel.pairing_claimed', body }] };
  }

  /** Returns the paired person. Fails with `not_found`, `conflict` (the code was not sent yet) or `forbidden` (requested over a chat). */
  confirm(pairingId: string, caller: Caller): { userId: string; chatId: string; name: string } {
    onlyHere(caller);
    const row = this.#find(pairingId);
    const { userId, chatId, name } = row;
    if (userId === null || chatId === null || name === null) {
      throw new AppError('conflict', 'No one has sent this code yet.', { hint: `Send it over ${this.#deps.names.title}, then confirm.` });
    }
    const person = { userId, chatId, name };
    const body = { channel: this.#deps.names.channel, pairingId, ...person, by: caller.actor };
    this.#deps.log.append(systemSessionId, [{ type: 'channel.paired', body }], true);
    return person;
  }

  refuse(pairingId: string, caller: Caller): void {
    onlyHere(caller);
    const row = this.#find(pairingId);
    this.#end(row, 'refused', caller.actor);
  }

  /** Fails with `not_found`. */
  revoke(userId: string, caller: Caller): void {
    onlyHere(caller);
    const { store, log, names } = this.#deps;
    const person = store.person(userId);
    if (person === null) throw new AppError('not_found', `No one with the ${names.title} id ${userId} is paired.`);
    const body = { channel: names.channel, userId, chatId: person.chatId, by: caller.actor };
    log.append(systemSessionId, [{ type: 'channel.revoked', body }], true);
  }

  list(): PairedPeople {
    const nowMs = this.#deps.clock.nowMs();
    const live = this.#deps.store.pairings().filter((row) => !hasExpired(row, nowMs));
    return {
      people: this.#deps.store.people(),
      pairings: live.map(({ pairingId, expiresAtMs, userId, name }) => ({
        pairingId,
        expiresAtMs,
        claimedBy: userId === null ? null : { userId, name: name ?? '' },
      })),
    };
  }

  #find(pairingId: string): PairingRow {
    const row = this.#deps.store.pairings().find((one) => one.pairingId === pairingId);
    if (row === undefined || hasExpired(row, this.#deps.clock.nowMs())) {
      throw new AppError('not_found', `There is no pending pairing ${pairingId}; a code is valid for an hour.`, {
        hint: `Show a new one with: ${pairCommand(this.#deps.names)}`,
      });
    }
    return row;
  }

  #endExpired(): void {
    const nowMs = this.#deps.clock.nowMs();
    for (const row of this.#deps.store.pairings()) if (hasExpired(row, nowMs)) this.#end(row, 'expired', 'clock');
  }

  #end({ pairingId }: PairingRow, reason: 'expired' | 'refused', by: string): void {
    const { log, names } = this.#deps;
    log.append(systemSessionId, [{ type: 'channel.pairing_ended', body: { channel: names.channel, pairingId, reason, by } }], true);
  }
}

export function pairCommand({ channel }: Pick<ServiceNames, 'channel'>): string {
  return `trayclaw channels pair ${channel}`;
}

/** Returns whether the text is exactly eight characters of the alphabet, in upper or lower case. */
export function looksLikeCode(text: string): boolean {
  return text.length === CODE_LENGTH && [...text.toUpperCase()].every((character) => ALPHABET.includes(character));
}

/** People who may talk to the agent are chosen where the agent runs: a paired phone must not pair another. */
function onlyHere(caller: Caller): void {
  if (!doors[caller.channel].isHere) throw new AppError('forbidden', 'People are paired and revoked at the computer only.');
}

/** Salted with the pairing id, so that equal codes have different hashes. */
function hashCode(pairingId: string, code: string): string {
  return createHash('sha256').update(`${pairingId}:${code}`).digest('hex');
}

function holds(row: PairingRow, code: string): boolean {
  return timingSafeEqual(Buffer.from(row.codeHash, 'hex'), Buffer.from(hashCode(row.pairingId, code), 'hex'));
}

function hasExpired({ expiresAtMs }: PairingRow, nowMs: number): boolean {
  return isOver({ fromMs: expiresAtMs - CODE_MS, untilMs: expiresAtMs }, nowMs);
}
