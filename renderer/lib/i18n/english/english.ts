// The English catalogue, which defines the type of every catalogue: one file for each part of the window. This file contains the texts a
// window needs before it shows a conversation.

import { budget } from './budget.ts';
import { common } from './common.ts';
import { composer } from './composer.ts';
import { conversation } from './conversation.ts';
import { frame } from './frame.ts';
import { sessions } from './sessions.ts';

export const english = {
  budget,
  common,
  composer,
  conversation,
  frame,
  sessions,
} as const;
