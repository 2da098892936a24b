// Counts what happened to every message, answer and approval of a person on Telegram, from the chat, the log and the files that approved
// calls left behind. Changes nothing.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyEvent } from '../../core/contracts/events.ts';
import type { HttpClaw } from '../../core/doors/http/http.ts';

/** Every run of an approved command appends one line with its number to this file. */
export const runsFile = 'runs.txt';

export interface TelegramTally {
  messages: number;
  /** Messages that were not accepted. */
  lost: string[];
  /** Messages with more than one answer in the chat. */
  twice: string[];
  /** Messages without an answer and without a notice about it. */
  unanswered: string[];
  /** Slash commands without an answer, minus the answers of unknown outcome, and those with more than one answer. */
  commandsUnanswered: number;
  commandsTwice: number;
  /** Answers of unknown outcome that are shown as such. */
  uncertain: number;
  questions: number;
  approved: number;
  denied: number;
  /** Approvals that were decided, or used, more than once; calls with two results. */
  decidedTwice: string[];
  /** Approved commands that ran more than once. */
  appliedTwice: string[];
  /** Approved calls without an effect. */
  notApplied: string[];
  /** Denied calls with an effect. */
  appliedAnyway: string[];
}

export interface Counted {
  readonly claw: HttpClaw;
  readonly workspace: string;
  readonly messages: number;
  /** The bot's messages. */
  readonly heard: readonly string[];
  /** How often the bot replied to each slash command. */
  readonly replies: readonly number[];
}

const types = ['user.message', 'tool.finished', 'approval.requested', 'approval.decided', 'grant.spent'];

export async function countTelegram({ claw, workspace, messages, heard, replies }: Counted): Promise<TelegramTally> {
  const events = await eventsOf(claw);
  const { items } = await claw.op('outbox.list', { state: 'uncertain', limit: 1000 });
  const uncertainOf = new Set(items.flatMap(({ text }) => /number (\d+)\./.exec(text)?.[1] ?? []));
  const noticesUncertain = items.filter(({ kind }) => kind === 'notice').length;
  const taken = new Set(events.flatMap((event) => (event.type === 'user.message' ? [numberIn(event.body.text)] : [])));
  const numbers = Array.from({ length: messages }, (_, at) => String(at + 1));
  const answers = (number: string): number => heard.filter((text) => text === `Done with number ${number}.`).length;
  return {
    messages,
    lost: numbers.filter((number) => !taken.has(number)),
    twice: numbers.filter((number) => answers(number) > 1),
    unanswered: numbers.filter((number) => answers(number) === 0 && !uncertainOf.has(number)),
    commandsUnanswered: Math.max(0, replies.filter((count) => count === 0).length - noticesUncertain),
    commandsTwice: replies.filter((count) => count > 1).length,
    uncertain: items.length,
    questions: events.filter(({ type }) => type === 'approval.requested').length,
    decidedTwice: [...repeated(events, decidedOf), ...repeated(events, spentOf), ...repeated(events, resultOf)],
    ...effectsOf(events, workspace),
  };
}

/** How often the command with this number ran. */
export function runsOf(workspace: string, number: string): number {
  const path = join(workspace, runsFile);
  return existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line === number).length
    : 0;
}

export function newestAnswered(heard: readonly string[]): number {
  return Math.max(0, ...heard.map((text) => Number(/^Done with number (\d+)\.$/.exec(text)?.[1] ?? 0)));
}

export function numberIn(text: string): string {
  return /\d+/.exec(text)?.[0] ?? '';
}

/** The number in the arguments of a call that needs approval. */
export function numberOfCall(args: string): string {
  return /(?:echo |")(\d+)(?:\.txt| >>)/.exec(args)?.[1] ?? '';
}

/** Compares the decisions with the actual state. */
function effectsOf(events: readonly AnyEvent[], workspace: string) {
  const calls = new Map(
    events.flatMap((event) => (event.type === 'approval.requested' ? [[event.body.approval.callId, event.body.approval]] : [])),
  );
  const decided = (decision: 'approve' | 'deny'): string[] =>
    events.flatMap((event) => {
      const call = event.type === 'approval.decided' && event.body.decision === decision ? calls.get(event.body.callId) : undefined;
      return call === undefined ? [] : [numberOfCall(call.args)];
    });
  const marksOf = (number: string): number => runsOf(workspace, number) + Number(existsSync(join(workspace, `${number}.txt`)));
  const [approved, denied] = [decided('approve'), decided('deny')];
  return {
    approved: approved.length,
    denied: denied.length,
    appliedTwice: approved.filter((number) => marksOf(number) > 1),
    notApplied: approved.filter((number) => marksOf(number) === 0),
    appliedAnyway: denied.filter((number) => marksOf(number) > 0),
  };
}

async function eventsOf(claw: HttpClaw): Promise<AnyEvent[]> {
  const { sessions } = await claw.op('session.list', { limit: 1000 });
  const ids = ['system', ...sessions.map(({ sessionId }) => sessionId)];
  const pages = await Promise.all(
    ids.map((sessionId) => claw.op('session.get', { sessionId, types, limit: 5000 }).catch(() => ({ events: [] }))),
  );
  return pages.flatMap(({ events }) => events) as unknown as AnyEvent[];
}

const decidedOf = (event: AnyEvent): string | null => (event.type === 'approval.decided' ? `decided ${event.body.approvalId}` : null);
const spentOf = (event: AnyEvent): string | null => (event.type === 'grant.spent' ? `spent ${event.body.grantId}` : null);
const resultOf = (event: AnyEvent): string | null => (event.type === 'tool.finished' ? `result ${event.body.callId}` : null);

function repeated(events: readonly AnyEvent[], keyOf: (event: AnyEvent) => string | null): string[] {
  const seen = new Set<string>();
  return events.flatMap((event) => {
    const key = keyOf(event);
    if (key === null) return [];
    if (seen.has(key)) return [key];
    seen.add(key);
    return [];
  });
}
