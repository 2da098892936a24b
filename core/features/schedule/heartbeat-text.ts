// The texts of the heartbeat: finds the tasks in HEARTBEAT.md, formats the request to the agent, and decides whether its answer is worth
// reporting. Text only.

import type { Config } from '../../contracts/config.ts';
import { fillPrompt } from '../../contracts/own-prompts.ts';
import { localMoment, minuteOfDay } from './local-time.ts';

const marker = 'Add your heartbeat tasks below this line:';

/** The content of a new file. It contains no tasks. */
export const heartbeatTemplate = `# Heartbeat

TrayClaw reads this file regularly and does the tasks in it. As long as there is nothing below the last line, no model is
asked and nothing is spent. Lines that begin with # are passed over. Examples:

- Look into inbox/ and tell me what is new.
- Tell me when a backup is older than a day.

${marker}
`;

/** The tasks in the file, or null if there are none. */
export function tasksIn(text: string): string | null {
  const at = text.indexOf(marker);
  const wanted = (at < 0 ? text : text.slice(at + marker.length)).trim();
  if (wanted === '') return null;
  const lines = wanted.replace(/<!--[\s\S]*?-->/g, '').split('\n');
  const isOnlyComment = lines.every((line) => line.trim() === '' || line.trim().startsWith('#'));
  return isOnlyComment ? null : wanted;
}

export const allClear = 'HEARTBEAT_OK';

export function heartbeatPrompt(about: {
  readonly instructions: string;
  readonly nowMs: number;
  readonly zone: string;
  readonly wanted: string;
  readonly tasks: readonly string[];
}): string {
  const { instructions, nowMs, zone, wanted, tasks } = about;
  return [
    '# Heartbeat',
    `Current time: ${localMoment(nowMs, zone)} (${zone})`,
    fillPrompt(instructions, { 'all-clear': allClear }),
    wanted,
    ...(tasks.length === 0 ? [] : [['Open tasks of the task list:', ...tasks.map((task) => `- ${task}`)].join('\n')]),
  ].join('\n\n');
}

/** An answer with at most this many characters besides the marker word still reports nothing. */
const BESIDE_MAX = 300;

/** Whether the answer is the marker word alone, or begins or ends with it and contains little else. */
export function isQuiet(answer: string): boolean {
  const text = answer.trim().replace(/^[`*_"'\s]+|[`*_"'.!\s]+$/g, '');
  if (text === '') return true;
  if (!text.startsWith(allClear) && !text.endsWith(allClear)) return false;
  return text.length - allClear.length <= BESIDE_MAX;
}

/** Hours may cross midnight, such as 22:00 to 06:00. Equal `from` and `to` mean the whole day. */
export function isActive(hours: Config['heartbeat']['activeHours'], nowMs: number, zone: () => string): boolean {
  if (hours === undefined || hours.from === hours.to) return true;
  const minute = minuteOfDay(nowMs, hours.zone ?? zone());
  const from = minutesOf(hours.from);
  const to = minutesOf(hours.to);
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

function minutesOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
}
