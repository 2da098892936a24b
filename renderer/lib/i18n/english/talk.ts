// The part of the English catalogue that turns need; loaded with the code that shows them.

import { approvals } from './approvals.ts';
import { artifacts } from './artifacts.ts';
import { chat } from './chat.ts';
import { connect } from './connect.ts';
import { folders } from './folders.ts';
import { markdown } from './markdown.ts';
import { messages } from './messages.ts';
import { review } from './review.ts';
import { rules } from './rules.ts';
import { side } from './side.ts';

export const talk = {
  approvals,
  artifacts,
  chat,
  connect,
  folders,
  markdown,
  messages,
  review,
  rules,
  side,
} as const;
