// The part of the English catalogue that the chat does not need; loaded with what does.

import { appearance } from './appearance.ts';
import { health } from './health.ts';
import { memory } from './memory.ts';
import { programs } from './programs.ts';
import { schedules } from './schedules.ts';
import { settingNames } from './setting-names.ts';
import { skills } from './skills.ts';
import { unfinished } from './unfinished.ts';
import { work } from './work.ts';

export const later = {
  appearance,
  health,
  memory,
  programs,
  schedules,
  settingNames,
  skills,
  unfinished,
  work,
} as const;
