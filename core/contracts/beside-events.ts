// The events of models and programs that are asked beside the conversation of a turn. Only puts the families together.

import { opinionEvents } from './features/opinions.ts';
import { valueEvents } from './features/values.ts';
import { verifyEvents } from './features/verify.ts';

export const besideEvents = { ...verifyEvents, ...opinionEvents, ...valueEvents } as const;
