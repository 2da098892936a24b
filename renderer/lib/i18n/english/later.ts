// The part of the English catalogue that the chat does not need; loaded with the code that needs it.

import { activity } from './activity.ts';
import { agents } from './agents.ts';
import { appearance } from './appearance.ts';
import { channels } from './channels.ts';
import { evals } from './evals.ts';
import { health } from './health.ts';
import { memory } from './memory.ts';
import { programs } from './programs.ts';
import { providers } from './providers.ts';
import { running } from './running.ts';
import { schedules } from './schedules.ts';
import { secrets } from './secrets.ts';
import { settings } from './settings.ts';
import { settingNames } from './setting-names.ts';
import { skills } from './skills.ts';
import { unfinished } from './unfinished.ts';
import { usage } from './usage.ts';
import { work } from './work.ts';

export const later = {
  activity,
  agents,
  appearance,
  channels,
  evals,
  health,
  memory,
  programs,
  providers,
  running,
  schedules,
  secrets,
  settings,
  settingNames,
  skills,
  unfinished,
  usage,
  work,
} as const;
