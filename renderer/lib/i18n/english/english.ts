// The English catalogue, which gives every catalogue its form: one file for each part of the window.

import { activity } from './activity.ts';
import { agents } from './agents.ts';
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
import { markdown } from './markdown.ts';
import { messages } from './messages.ts';
import { providers } from './providers.ts';
import { review } from './review.ts';
import { rules } from './rules.ts';
import { running } from './running.ts';
import { secrets } from './secrets.ts';
import { sessions } from './sessions.ts';
import { settings } from './settings.ts';
import { side } from './side.ts';
import { usage } from './usage.ts';

export const english = {
  activity,
  agents,
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
  markdown,
  messages,
  providers,
  review,
  rules,
  running,
  secrets,
  sessions,
  settings,
  side,
  usage,
} as const;
