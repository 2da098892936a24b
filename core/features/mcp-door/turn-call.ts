// A request that is a turn. It is held until the turn ends, with progress messages. An approval is asked of the person at the client, if
// the client can ask and may approve. The approval stays open at every other door, and the first answer decides.

import { CLIENT_CAPABILITIES_META_KEY, createRequestStateCodec, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import type { ClientCapabilities, InputRequiredResult, RequestStateCodec, ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { boundedText } from '../../contracts/approval-text.ts';
import type { Claw } from '../../contracts/claw.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import type { AskResult } from '../../contracts/op-results.ts';
import type { Approval } from '../../contracts/policy.ts';
import type { Peer } from './peer.ts';

/** The state that the client carries from one round of a request to the next. It is sealed and bound to the client. */
export interface RoundState {
  readonly turnId: string;
  /** The approval that the person at the client was asked for. */
  readonly asked: string;
  /** Whether the client showed the whole call. Otherwise its answer can only deny. */
  readonly mayApprove: boolean;
  /** Approvals that the person left to another door. */
  readonly left: readonly string[];
}

export interface TurnCallDeps {
  readonly claw: Claw;
  readonly rounds: RequestStateCodec<RoundState>;
}

/** One request of a client. */
export interface Visit {
  readonly peer: Peer;
  readonly context: ServerContext;
  /** The capabilities from the handshake; undefined if each request carries them. */
  readonly capabilities: ClientCapabilities | undefined;
}

const ALIVE_MS = 10_000;
const ROUND_SECONDS_MAX = 24 * 3600;
const KEY = 'approval';
const EARLY_MAX = 1_000;
/** The most of an approval that a client is asked to show in a form. */
const ASKED_CHARS_MAX = 8_000;
const askingSchema = z.object({ elicitation: z.object({ form: z.unknown().optional(), url: z.unknown().optional() }).optional() });
const answerSchema = z.object({ decision: z.enum(['approve', 'deny', 'elsewhere']) });

/** Seals the state of a round, which is valid only for this client and this kind of request. */
export function roundsOf(key: Uint8Array, { id }: Pick<Peer, 'id'>): RequestStateCodec<RoundState> {
  return createRequestStateCodec<RoundState>({ key, ttlSeconds: ROUND_SECONDS_MAX, bind: ({ mcpReq }) => `${mcpReq.method} ${id}` });
}

/**
 * Returns the end of the turn, or a question to the person at the client. The turn is cancelled with the request, unless it waits for that
 * answer. `begin` starts the turn; it is not called in a later round of the same request.
 */
export async function followTurn(deps: TurnCallDeps, visit: Visit, begin: () => Promise<string>): Promise<AskResult | InputRequiredResult> {
  const { claw } = deps;
  const { peer, context } = visit;
  const follower = new TurnFollower(claw, visit);
  try {
    const back = context.mcpReq.requestState<RoundState>();
    const turnId = back?.turnId ?? (await begin());
    follower.follow(turnId);
    const left = back === undefined ? [] : await takeAnswer(claw, visit, back);
    for (;;) {
      const change = follower.nextChange();
      const result = await claw.op('turn.wait', { turnId }, peer.caller);
      if (result.status !== 'waiting') return result;
      const pending = result.pending?.find(({ approvalId }) => !left.includes(approvalId));
      const approval = pending !== undefined && mayAsk(visit) ? await approvalOf(claw, visit, pending) : undefined;
      if (approval !== undefined) return await question(deps, visit, { approval, turnId, left });
      follower.say(result.pending?.[0] === undefined ? 'waiting' : `waiting for approval: ${result.pending[0].summary}`);
      await change;
    }
  } finally {
    follower.dispose();
  }
}

function mayAsk({ peer, context, capabilities }: Visit): boolean {
  const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
  const { data } = askingSchema.safeParse(envelope[CLIENT_CAPABILITIES_META_KEY] ?? capabilities);
  const { elicitation } = data ?? {};
  // A client that names no mode supports forms.
  const hasForms = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
  return hasForms && peer.may('approvals');
}

/** Undefined if it was answered meanwhile. */
async function approvalOf(claw: Claw, { peer }: Visit, { approvalId }: { readonly approvalId: string }): Promise<Approval | undefined> {
  const { approvals } = await claw.op('approval.list', {}, peer.caller);
  return approvals.find((one) => one.approvalId === approvalId);
}

interface Asking extends Pick<RoundState, 'turnId' | 'left'> {
  readonly approval: Approval;
}

async function question({ rounds }: TurnCallDeps, { context }: Visit, { approval, turnId, left }: Asking): Promise<InputRequiredResult> {
  const { text, isWhole } = boundedText(approval, ASKED_CHARS_MAX);
  const message = `TrayClaw asks for your approval.\n${text}`;
  const state = { turnId, asked: approval.approvalId, mayApprove: isWhole, left };
  const decision = {
    type: 'string' as const,
    title: 'Decision',
    description: isWhole ? 'Approving covers this one call.' : 'The call is too long to be approved here.',
    oneOf: [
      isWhole ? { const: 'approve', title: 'Approve once' } : { const: 'elsewhere', title: 'Decide elsewhere' },
      { const: 'deny', title: 'Deny' },
    ],
  };
  const requestedSchema = { type: 'object' as const, properties: { decision }, required: ['decision'] };
  return inputRequired({
    inputRequests: { [KEY]: inputRequired.elicit({ mode: 'form', message, requestedSchema }) },
    requestState: await rounds.mint(state, context),
  });
}

/** Returns the approvals that are left to other doors from now on. An unclear answer approves nothing. */
async function takeAnswer(claw: Claw, visit: Visit, { asked, mayApprove, left }: RoundState): Promise<readonly string[]> {
  const { peer, context } = visit;
  const answer = inputResponse(context.mcpReq.inputResponses, KEY);
  if (answer.kind !== 'elicit' || answer.action === 'cancel' || !peer.may('approvals')) return [...left, asked];
  const content = answer.action === 'accept' ? answerSchema.safeParse(answer.content) : null;
  const decision = content === null ? 'deny' : (content.data?.decision ?? 'elsewhere');
  if (decision === 'elsewhere' || (decision === 'approve' && !mayApprove)) return [...left, asked];
  try {
    await claw.op('approval.decide', { approvalId: asked, decision }, peer.caller);
  } catch (cause) {
    // The approval was answered at another door, or withdrawn.
    if (!isAppError(cause)) throw cause;
  }
  return left;
}

/** Follows the events of a turn, reports progress if the client asked for it, and cancels the turn with the request. */
class TurnFollower {
  readonly #claw: Claw;
  readonly #visit: Visit;
  readonly #gone: AbortSignal;
  readonly #onGone = (): void => this.#cancel();
  readonly #over = new AbortController();
  readonly #beat: NodeJS.Timeout;
  #turnId: string | null = null;
  /** Events that arrive before the turn is known. */
  readonly #early: AnyEvent[] = [];
  #change = Promise.withResolvers<void>();
  #hasEnded = false;
  #steps = 0;
  #note = 'working';

  /** Created before the turn starts, so that no event is missed. */
  constructor(claw: Claw, visit: Visit) {
    this.#claw = claw;
    this.#visit = visit;
    this.#gone = AbortSignal.any([visit.context.mcpReq.signal, visit.peer.revoked]);
    this.#gone.addEventListener('abort', this.#onGone, { once: true });
    this.#beat = setInterval(() => this.say(this.#note), ALIVE_MS);
    // A lost subscription rejects `nextChange`.
    this.#listen(claw.events({ after: 'latest', signal: this.#over.signal })).catch(() => undefined);
  }

  follow(turnId: string): void {
    this.#turnId = turnId;
    for (const event of this.#early.splice(0)) this.#take(event);
    if (this.#gone.aborted) this.#cancel();
  }

  /** Resolves when the state of the turn may have changed. Rejects with shutting_down when no more events can arrive. */
  nextChange(): Promise<void> {
    if (this.#hasEnded) return Promise.reject(ending());
    this.#change = Promise.withResolvers<void>();
    const { promise } = this.#change;
    // The promise may never be awaited.
    promise.catch(() => undefined);
    return promise;
  }

  say(note: string): void {
    this.#note = note;
    const { _meta: meta, notify } = this.#visit.context.mcpReq;
    if (meta?.progressToken === undefined) return;
    const params = { progressToken: meta.progressToken, progress: ++this.#steps, message: note };
    // A disconnected client ends the request elsewhere.
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  }

  dispose(): void {
    clearInterval(this.#beat);
    this.#gone.removeEventListener('abort', this.#onGone);
    this.#over.abort();
  }

  #cancel(): void {
    const { peer } = this.#visit;
    // The turn may end at the same moment.
    if (this.#turnId !== null) this.#claw.op('turn.cancel', { turnId: this.#turnId }, peer.caller).catch(() => undefined);
  }

  async #listen(events: AsyncIterable<AnyEvent>): Promise<void> {
    try {
      for await (const event of events) {
        if (this.#turnId !== null) this.#take(event);
        else if (this.#early.length < EARLY_MAX) this.#early.push(event);
      }
    } finally {
      this.#hasEnded = true;
      if (!this.#over.signal.aborted) this.#change.reject(ending());
    }
  }

  #take(event: AnyEvent): void {
    if (event.turnId !== this.#turnId) return;
    if (event.type === 'tool.requested') this.say(`running ${event.body.tool}`);
    if (['turn.started', 'turn.resumed', 'turn.finished', 'turn.waiting', 'approval.decided'].includes(event.type)) this.#change.resolve();
  }
}

function ending(): AppError {
  return new AppError('shutting_down', 'TrayClaw ended before the turn did. The turn continues when it runs again.');
}
