// Exports a session as files a person can keep: JSON lines (every event) and Markdown (the conversation).

import type { AnyEvent, EventBodies } from '../../contracts/events.ts';
import { describeAnswer, endWordsOf } from '../../contracts/turn-words.ts';

/** One event per line, in order. */
export function exportJsonl(events: Iterable<AnyEvent>): string {
  let text = '';
  for (const event of events) text += JSON.stringify(event) + '\n';
  return text;
}

export function exportMarkdown(title: string, events: Iterable<AnyEvent>): string {
  const parts = [`# ${inOneLine(title)}`];
  for (const event of events) {
    const part = markdownOf(event);
    if (part !== null) parts.push(part);
  }
  return parts.join('\n\n') + '\n';
}

function markdownOf(event: AnyEvent): string | null {
  const at = new Date(event.atMs).toISOString();
  switch (event.type) {
    case 'session.created':
      return event.body.workspace === undefined ? null : `*Works in ${event.body.workspace}*`;
    case 'user.message':
      return `## ${writerOf(event.body)} · ${at}\n\n${event.body.text}`;
    case 'turn.steered':
      return `## ${event.body.untrusted === undefined ? 'You' : inOneLine(event.body.sender)}, while it worked · ${at}\n\n${event.body.text}`;
    case 'assistant.message':
      return `## TrayClaw · ${at}\n\n${event.body.text}`;
    case 'tool.requested':
      return `**Called \`${event.body.tool}\`** · ${at}\n\n${fence(event.body.args, 'json')}`;
    case 'tool.finished':
      return `**\`${event.body.tool}\` → ${event.body.outcome}** (${Math.round(event.body.tookMs)} ms)\n\n${fence(event.body.forModel, '')}`;
    case 'tool.outcome_unknown':
      return `**\`${event.body.tool}\` → outcome unknown**: ${event.body.reason}`;
    case 'approval.decided':
      return `*${describeAnswer(event.body)} · ${at}*`;
    case 'turn.finished':
      return event.body.status === 'done'
        ? null
        : `*Turn ended: ${endWordsOf(event.body.status)}${event.body.error === null ? '' : ` (${event.body.error.message})`}*`;
    default:
      return null;
  }
}

/** Who wrote a message: the user, unless a schedule, a signal, another agent or an outsider began the turn. */
function writerOf({ sender, bounds, helper }: EventBodies['user.message']): string {
  const isYou = helper === undefined && bounds?.outsider === undefined && (bounds?.unattended ?? null) === null;
  return isYou ? 'You' : inOneLine(sender);
}

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

/** Uses a fence longer than any run of backticks in the content, so that the content cannot end it. */
export function fence(content: string, language: string): string {
  const longest = Math.max(2, ...(content.match(/`+/g) ?? []).map((run) => run.length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}${language}\n${content}\n${ticks}`;
}
