// The events of requests beside the conversation of a turn: verification, second opinions, values. No event is defined here.

import { opinionEvents } from './features/opinions.ts';
import { valueEvents } from './features/values.ts';
import { verifyEvents } from './features/verify.ts';

export const besideEvents = { ...verifyEvents, ...opinionEvents, ...valueEvents } as const;
