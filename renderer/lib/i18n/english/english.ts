// The English catalogue, which gives every catalogue its form: one file for each part of the window.

import { activity } from './activity.ts';
import { agents } from './agents.ts';
import { appearance } from './appearance.ts';
import { approvals } from './approvals.ts';
import { artifacts } from './artifacts.ts';
import { budget } from './budget.ts';
import { channels } from './channels.ts';
import { connect } from './connect.ts';
import { chat } from './chat.ts';
import { commands } from './commands.ts';
import { common } from './common.ts';
import { composer } from './composer.ts';
import { folders } from './folders.ts';
import { frame } from './frame.ts';
import { health } from './health.ts';
import { markdown } from './markdown.ts';
import { memory } from './memory.ts';
import { messages } from './messages.ts';
import { providers } from './providers.ts';
import { rules } from './rules.ts';
import { schedules } from './schedules.ts';
import { secrets } from './secrets.ts';
import { sessions } from './sessions.ts';
import { settingNames } from './setting-names.ts';
import { settings } from './settings.ts';
import { skills } from './skills.ts';
import { unfinished } from './unfinished.ts';
import { usage } from './usage.ts';

export const english = {
  activity,
  agents,
  appearance,
  approvals,
  artifacts,
  budget,
  channels,
  connect,
  chat,
  commands,
  common,
  composer,
  folders,
  frame,
  health,
  markdown,
  memory,
  messages,
  providers,
  rules,
  schedules,
  secrets,
  sessions,
  settingNames,
  settings,
  skills,
  unfinished,
  usage,
} as const;
