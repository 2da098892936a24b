// Finds the session of a request: the session it names, the session of the response it continues, or the session whose history it repeats.
// A client reaches only sessions that its token began.

import { createHash } from 'node:crypto';
import { NewestMap } from '../../base/newest-map.ts';
import type { DoorCaller } from '../../contracts/door-route.ts';
import { AppError } from '../../contracts/errors.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import type { Spine } from '../feature.ts';
import type { Asked, Said } from './asked.ts';
import { refuse } from './read-parts.ts';

const SESSION_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/;
const RESPONSE_ID = /^(?:resp_|chatcmpl-)(.{1,100})$/;
const KNOWN_MAX = 2_000;

export interface Place {
  /** Null if a new session begins. Its id is `sessionId` if the client named one. */
  readonly known: { readonly sessionId: string; readonly agentId: string } | null;
  readonly sessionId: string | null;
  /** The messages that the session does not contain yet. */
  readonly fresh: readonly Said[];
  /** The messages before `fresh`; empty if a session contains them. */
  readonly earlier: readonly Said[];
}

export class Conversations {
  readonly #log: Pick<Spine['log'], 'index'>;
  /** The session of each history that a client was sent, by the hash of the history. */
  readonly #histories = new NewestMap<string, string>(KNOWN_MAX);
  /** The latest instructions of each session. */
  readonly #instructions = new NewestMap<string, string>(KNOWN_MAX);

  constructor(log: Pick<Spine['log'], 'index'>) {
    this.#log = log;
  }

  /** Fails with `invalid_params` or `not_found`. */
  placeOf(owner: DoorCaller, agentId: string, asked: Asked, named: string | undefined): Place {
    const { said, previous } = asked;
    const split = said.findLastIndex(({ role }) => role === 'assistant') + 1;
    const fresh = said.slice(split);
    if (fresh.length === 0 || fresh.some(({ role }) => role !== 'user'))
      throw refuse('messages', 'An agent answers a message of the user, so the last messages must be theirs.');
    if (named !== undefined && previous !== null)
      throw refuse('previous_response_id', 'Send either previous_response_id or the header x-trayclaw-session.');
    if (named !== undefined) return this.#named(owner, named, { fresh, earlier: said.slice(0, split) });
    if (previous !== null) return { known: this.#continued(owner, previous), sessionId: null, fresh, earlier: [] };
    const earlier = said.slice(0, split);
    const known = earlier.length === 0 ? null : this.#session(owner, this.#histories.get(keyOf(owner, agentId, earlier)));
    return { known: known?.agentId === agentId ? known : null, sessionId: null, fresh, earlier };
  }

  /** Records the history that the client will send back with its next message. */
  note(owner: DoorCaller, agentId: string, said: readonly Said[], sessionId: string): void {
    keep(this.#histories, keyOf(owner, agentId, said), sessionId);
  }

  /** Whether these instructions differ from the latest ones that an accepted message of the session contained. */
  areNew(sessionId: string, instructions: string): boolean {
    return this.#instructions.get(sessionId) !== instructions;
  }

  noteInstructions(sessionId: string, instructions: string): void {
    if (instructions !== '') keep(this.#instructions, sessionId, instructions);
  }

  /** A name is the client's own, whatever sessions there are. An id from a reply is accepted as well. */
  #named(owner: DoorCaller, name: string, { fresh, earlier }: Pick<Place, 'fresh' | 'earlier'>): Place {
    const sessionId = `${ownSessions.client}${owner.token.tokenId}_${name}`;
    const known = this.#session(owner, name) ?? this.#session(owner, sessionId);
    if (known === null && !SESSION_NAME.test(name))
      throw refuse('x-trayclaw-session', 'A session name has up to 60 letters, digits, dots, dashes and underscores.');
    return { known, sessionId, fresh, earlier: known === null ? earlier : [] };
  }

  #continued(owner: DoorCaller, responseId: string): NonNullable<Place['known']> {
    const turn = this.#log.index.turn(RESPONSE_ID.exec(responseId)?.[1] ?? '');
    const known = this.#session(owner, turn?.sessionId);
    if (turn === null || known === null)
      throw new AppError('not_found', `There is no response ${responseId}.`, { data: { param: 'previous_response_id' } });
    if (this.#log.index.lastTurn(known.sessionId)?.turnId !== turn.turnId)
      throw refuse('previous_response_id', `${responseId} is not the last response of its conversation, which cannot branch here.`);
    return known;
  }

  #session(owner: DoorCaller, sessionId: string | undefined): Place['known'] {
    if (sessionId === undefined || !owner.owns(sessionId)) return null;
    const row = this.#log.index.session(sessionId);
    return row === null ? null : { sessionId, agentId: row.agentId };
  }
}

function keyOf({ token }: DoorCaller, agentId: string, said: readonly Said[]): string {
  const texts = said.map(({ role, text }) => [role, text]);
  return createHash('sha256')
    .update(JSON.stringify([token.tokenId, agentId, texts]))
    .digest('base64');
}

/**
 * Drops the oldest entry above the limit. A conversation whose entry is dropped begins a new session that includes the earlier messages.
 */
function keep(map: Map<string, string>, key: string, value: string): void {
  map.delete(key);
  map.set(key, value);
}
