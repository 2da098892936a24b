// The built-in features in construction order. Each feature picks what it needs, by name, from the spine and from the features before it.
// Read compose.ts first.

import { FeatureList } from './features/feature.ts';
import { a2a, agents } from './features/a2a/a2a.ts';
import { browser } from './features/browser/browser.ts';
import { deadLetters } from './features/dead-letters/dead-letters.ts';
import { channels } from './features/channels/channels.ts';
import { delegate } from './features/delegate/delegate.ts';
import { discord } from './features/discord/discord.ts';
import { doors } from './features/doors/doors.ts';
import { email } from './features/email/email.ts';
import { engine } from './features/engine/engine.ts';
import { evals } from './features/evals/evals.ts';
import { governor } from './features/governor/governor.ts';
import { health } from './features/health/health.ts';
import { helpers } from './features/helpers/helpers.ts';
import { hooks } from './features/hooks/hooks.ts';
import { identity } from './features/identity/identity.ts';
import { machine } from './features/machine/machine.ts';
import { mcp } from './features/mcp/mcp.ts';
import { mcpDoor } from './features/mcp-door/mcp-door.ts';
import { memory } from './features/memory/memory.ts';
import { openai } from './features/openai/openai.ts';
import { opinions } from './features/opinions/opinions.ts';
import { pipelines } from './features/pipelines/pipelines.ts';
import { plan } from './features/plan/plan.ts';
import { plugins } from './features/plugins/plugins.ts';
import { prices } from './features/prices/prices.ts';
import { project } from './features/project/project.ts';
import { saved } from './features/saved/saved.ts';
import { schedule } from './features/schedule/schedule.ts';
import { signals } from './features/signals/signals.ts';
import { report } from './features/report/report.ts';
import { installs, skillStore } from './features/skill-store/skill-store.ts';
import { skills } from './features/skills/skills.ts';
import { ssh } from './features/ssh/ssh.ts';
import { telegram, telegramOperations } from './features/telegram/telegram.ts';
import { telemetry } from './features/telemetry/telemetry.ts';
import { turnEnd } from './features/turn-end/turn-end.ts';
import { usage } from './features/usage/usage.ts';
import { values } from './features/values/values.ts';
import { verify } from './features/verify/verify.ts';
import { work } from './features/work/work.ts';
import type { OpHandlers } from './contracts/ops.ts';
import type { Hands } from './compose-spine.ts';

interface Base extends Hands {
  /** Starts another runtime on a different data folder. */
  readonly start: Parameters<typeof evals.create>[0]['start'];
  /** The operations of the spine. Call it only once the runtime is running. */
  readonly ops: () => Pick<OpHandlers, 'model.test' | 'checkpoint.restore'>;
}

/** @internal */
export const builtInFeatures = FeatureList.over<Base>()
  .with(identity)
  .with(agents)
  .with(hooks)
  .with(verify)
  .with(governor)
  .with(delegate)
  .with(engine)
  .with(memory)
  .with(turnEnd)
  .with(helpers)
  .with(installs)
  .with(skills)
  .with(signals)
  .with(doors)
  .with(mcp)
  .with(evals)
  .with(work)
  .with(schedule)
  .with(deadLetters)
  .with(telegram)
  .with(usage)
  .with(openai)
  .with(a2a)
  .with(mcpDoor)
  .with(telemetry)
  .with(machine)
  .with(ssh)
  .with(browser)
  .with(plugins)
  .with(discord)
  .with(email)
  .with(channels)
  .with(telegramOperations)
  .with(opinions)
  .with(prices)
  .with(values)
  .with(skillStore)
  .with(pipelines)
  .with(plan)
  .with(project)
  .with(saved)
  .with(health)
  .with(report);

/** @internal */
export type Features = ReturnType<typeof builtInFeatures.make>;
