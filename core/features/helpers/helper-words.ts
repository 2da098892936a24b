// The texts about subagents: the task that a subagent receives, the answer that its caller gets, and how it ended. Pure.

import { fillPrompt } from '../../contracts/own-prompts.ts';
import type { EventBodies } from '../../contracts/events.ts';
import type { HelperEnd } from '../../contracts/features/helpers.ts';
import { addUsage } from '../../contracts/spending.ts';
import type { HelperJob } from './rows.ts';

export type EndedHelp = Pick<EventBodies['a2a.finished'], 'status' | 'text' | 'usage' | 'costUsd'>;

/** The maximum length of an answer that is passed on. The whole answer is in the subagent's session. */
const TEXT_MAX = 30_000;

export function taskOf({ task }: HelperJob, caller: string, instructions: string): string {
  return `${task}\n\n(${fillPrompt(instructions, { caller })})`;
}

/** Converts the end of a subagent's turn to the end of its job. */
export function endOf(
  end: EventBodies['turn.finished'],
  about: { readonly outOfTime: boolean; readonly spent: readonly EventBodies['turn.finished'][] },
): EndedHelp {
  const status: HelperEnd = about.outOfTime && end.status === 'cancelled' ? 'timeout' : end.status;
  const text = end.status === 'done' ? end.text : (end.error?.message ?? '');
  const all = [...about.spent, end];
  const costs = all.map(({ costUsd }) => costUsd);
  return {
    status,
    text: text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}\n[cut: the whole answer is in the subagent's session]` : text,
    usage: all.map(({ usage }) => usage).reduce(addUsage),
    costUsd: costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
  };
}

/** The message in the calling session. */
export function answerOf(job: HelperJob): string {
  return `The subagent ${job.agentId} that was started in the background (${job.jobId}, "${job.label}") ${endWords[job.status ?? 'failed']}\n\n${job.text}`.trim();
}

export function resultOf(job: HelperJob): { readonly forModel: string; readonly isError: boolean } {
  const { status, text, agentId } = job;
  if (status === 'done') return { forModel: text === '' ? 'The subagent answered nothing.' : text, isError: false };
  return { forModel: `The subagent ${agentId} ${endWords[status ?? 'failed']} ${text}`.trim(), isError: true };
}

export function describeJob({ jobId, agentId, label, state, status, text }: HelperJob): string {
  const stands = state === 'finished' ? (status ?? 'ended') : state;
  const answer = state === 'finished' && text !== '' ? `\n${text}` : '';
  return `${jobId} · ${agentId} · ${label} · ${stands}${answer}`;
}

const endWords: Readonly<Record<HelperEnd, string>> = {
  done: 'is done. Its answer:',
  failed: 'failed.',
  cancelled: 'was stopped.',
  timeout: 'was stopped because its time ran out.',
  over_budget: 'was stopped because it used up its budget.',
  stopped: 'was stopped by the panic stop.',
};
