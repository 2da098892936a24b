// Puts together the events of verification, second opinions and values. Defines none.

import { opinionEvents } from './features/opinions.ts';
import { valueEvents } from './features/values.ts';
import { verifyEvents } from './features/verify.ts';

export const besideEvents = { ...verifyEvents, ...opinionEvents, ...valueEvents } as const;
