// Inbound work: a message, or a call a person makes directly, each with its origin.

import type { Redacted } from '../../base/redacted.ts';
import { AppError } from '../../contracts/errors.ts';
import type { AnyDraft, EventBodies } from '../../contracts/events.ts';
import type { ArtifactRef, TaintSource } from '../../contracts/tools.ts';
import type { HelperOrigin } from '../../contracts/features/helpers.ts';
import { wholeBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { TurnPlace } from './running-turn.ts';

export interface InboundMessage {
  readonly sessionId: string;
  readonly agentId: string;
  readonly text: string;
  readonly channel: string;
  readonly sender: string;
  readonly dedupeKey: string | null;
  /** The untrusted sources of text that is not the sender's own: a forwarded message, a group in which anyone can write. */
  readonly untrusted?: readonly TaintSource[];
  /** Texts of others that came with the message. Each is marked with its sources. */
  readonly told?: readonly EventBodies['turn.steered'][];
  /** Further events for the same transaction, before the message: a new session's first event, with a title taken from the message. */
  readonly before: readonly AnyDraft[] | ((text: Redacted) => readonly AnyDraft[]);
  /** Attached files, and the untrusted sources of their content. */
  readonly attached?: { readonly files: readonly ArtifactRef[]; readonly sources: readonly TaintSource[] };
  /** The bounds of the turn it begins; absent for none. */
  readonly bounds?: TurnBounds;
  /** Set if another agent's turn started it as a subagent. */
  readonly helper?: HelperOrigin;
  /** The model chosen for this message. */
  readonly model?: string;
  /** The chat the message came from, which receives the answer. */
  readonly chat?: EventBodies['user.message']['chat'];
  /** Set when an earlier message is repeated. */
  readonly again?: RunAgain;
  /** Writes rows and events of other sessions in the same transaction as the message. */
  alongside?(turnId: string): void;
}

/** An accepted message; `onDisk` is null if it is already on disk. */
export interface Accepted {
  readonly sessionId: string;
  readonly turnId: string;
  readonly onDisk: Promise<void> | null;
}

/** A repeated message: the turn it replaces, the person's later messages, and the model if it differs. */
export interface RunAgain {
  readonly turnIds: readonly string[];
  readonly steers: readonly EventBodies['turn.steered'][];
  readonly by: string;
  readonly model: string | null;
}

/** The fields of a turn's start beyond its place; model and workspace default to those of the session. */
export type StartAbout = { readonly model?: string | null; /** True for the first turn of its session. */ readonly begins?: true } & Pick<
  EventBodies['turn.started'],
  'continues' | 'retries' | 'bounds' | 'helper' | 'workspace'
>;

export interface DirectCall {
  readonly sessionId: string;
  readonly agentId: string;
  readonly tool: string;
  readonly args: string;
  readonly channel: string;
  /** A second call with the same key returns the first one. */
  readonly dedupeKey?: string;
  readonly before: readonly AnyDraft[];
  /** The folder of its session; null for the configured workspace. */
  readonly workspace?: string | null;
  readonly bounds?: TurnBounds;
}

/** The message with its taint marks and, if it repeats an earlier one, the steering messages of that one. */
export function messageDrafts(message: InboundMessage, text: Redacted, turnId: string): AnyDraft[] {
  return [
    ...markForeign(turnId, message),
    { type: 'user.message', turnId, phase: 'interpret', body: messageBody(message, text) },
    ...(message.again?.steers ?? message.told ?? []).map((body) => ({ type: 'turn.steered' as const, turnId, body })),
  ];
}

/** Marks even known sources, because only the mark distinguishes the text of such a message, or of such files, from the person's own. */
export function markForeign(
  turnId: string,
  { untrusted = [], attached, told = [], bounds }: Pick<InboundMessage, 'untrusted' | 'attached' | 'told' | 'bounds'>,
): AnyDraft[] {
  const mark = (sources: readonly TaintSource[], more: { attached?: true }): AnyDraft[] =>
    sources.length === 0
      ? []
      : [{ type: 'taint.marked', turnId, phase: 'interpret', body: { callId: null, sources: [...sources], paths: [], ...more } }];
  const outside = untrusted.length > 0 ? [] : outsideSource(bounds);
  const brought = [...(attached?.sources ?? []), ...told.flatMap((text) => text.untrusted ?? []), ...outside];
  const sources = [...new Map(brought.map((source) => [`${source.kind}:${source.where}`, source])).values()];
  return [...mark(sources, { attached: true }), ...mark(untrusted, {})];
}

/** Marks the session of an outsider without the owner's grants, so that whatever the turn keeps for later is only proposed. */
function outsideSource({ outsider, grants }: Pick<TurnBounds, 'outsider' | 'grants'> = wholeBounds): TaintSource[] {
  return outsider === undefined || grants ? [] : [{ kind: 'message', where: outsider.name }];
}

/** Fails with invalid_params for a message that says nothing. Files need no text. */
function assertSaid({ text, attached }: Pick<InboundMessage, 'text' | 'attached'>): void {
  if (text.trim() === '' && (attached?.files ?? []).length === 0)
    throw new AppError('invalid_params', 'The message is empty: it has no text and no file.');
}

/** The events before a message: its session's first event, or the event that replaces an earlier turn. Fails for an empty message. */
export function openingOf(message: InboundMessage, text: Redacted, turnId: string): readonly AnyDraft[] {
  assertSaid(message);
  const { before, again } = message;
  if (again !== undefined) return supersede(again, turnId);
  return typeof before === 'function' ? before(text) : before;
}

/** The message as the log stores it. */
export function messageBody(
  { channel, sender, dedupeKey, attached, bounds, helper, model, chat }: InboundMessage,
  text: Redacted,
): EventBodies['user.message'] {
  const files = attached?.files ?? [];
  return {
    text,
    channel,
    sender,
    dedupeKey,
    ...(files.length === 0 ? {} : { attachments: [...files] }),
    ...(chat === undefined ? {} : { chat }),
    ...aboutOf({ bounds, helper, model }),
  };
}

/** The fields of a message about the turn it begins. */
export function aboutOf({ bounds, helper, model }: Pick<EventBodies['user.message'], AboutTurn>): Pick<InboundMessage, AboutTurn> {
  return {
    ...(bounds === undefined ? {} : { bounds }),
    ...(helper === undefined ? {} : { helper }),
    ...(model === undefined ? {} : { model }),
  };
}

type AboutTurn = 'bounds' | 'helper' | 'model';

/** Returns whether a session begins with these events, and its folder. */
function sessionBegun(before: readonly AnyDraft[]): Pick<StartAbout, 'begins' | 'workspace'> {
  const created = before.find((draft) => draft.type === 'session.created');
  if (created?.type !== 'session.created') return {};
  const { workspace } = created.body;
  return { begins: true, ...(workspace === undefined ? {} : { workspace }) };
}

/** The same fields for a queued message, read from the message in the log. */
export function aboutQueued(log: SessionLog, { sessionId, turnId }: TurnPlace): Pick<InboundMessage, AboutTurn> {
  const firstSeq = log.index.turn(turnId)?.firstSeq ?? 0;
  const message = log.reads.turn(sessionId, turnId, firstSeq).find((event) => event.type === 'user.message');
  return message?.type === 'user.message' ? aboutOf(message.body) : {};
}

function supersede({ turnIds, by }: Pick<RunAgain, 'turnIds' | 'by'>, byTurnId: string): AnyDraft[] {
  return turnIds.map((turnId) => ({ type: 'turn.superseded', turnId, body: { byTurnId, by } }));
}

function startAgain(again: RunAgain | undefined): StartAbout {
  const retries = again?.turnIds.at(-1);
  const model = again?.model ?? null;
  return retries === undefined ? {} : { retries, ...(model === null ? {} : { model }) };
}

/** The fields of the start of a message's turn; a model chosen for a repeat takes precedence over that of the message. */
export function aboutStart(message: InboundMessage, before: readonly AnyDraft[]): StartAbout {
  return { ...aboutOf(message), ...sessionBegun(before), ...startAgain(message.again) };
}
