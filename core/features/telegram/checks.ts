// Health checks of the bot: whether it polls, and for whom.

import { counted, unwell, well, type Finding, type HealthSource } from '../../contracts/health.ts';
import type { OpResult } from '../../contracts/ops.ts';

type Status = Pick<OpResult<'telegram.status'>, 'state' | 'problem' | 'people' | 'bot'>;

export function telegramChecks(status: () => Status): HealthSource {
  return { check: () => checkTelegram(status()) };
}

/** Returns nothing without a bot. */
function checkTelegram({ state, problem, people, bot }: Status): Finding[] {
  if (state === 'off') return [];
  const name = bot === null ? 'The bot' : `@${bot.username}`;
  if (state === 'paused') return [well('telegram', `${name} is paused.`)];
  if (problem !== null) return [unwell('telegram', problem, 'trayclaw telegram status')];
  if (people === 0) return [well('telegram', `${name} is connected; no one is paired yet.`)];
  return [well('telegram', `${name} is connected and paired with ${counted(people, 'person', 'people')}.`)];
}
