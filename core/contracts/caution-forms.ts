// The operations on the governor and on second opinions as commands. Plain data; see command-form.ts.

import type { OpForms } from './command-form.ts';

export const cautionForms = {
  'governor.explain': {
    about: 'show the rules of the governor that fired in a turn; with the governor off, those that would have',
    commands: { 'governor explain': { takes: ['turnId'], example: 'trn_01JD7Q' } },
  },
  'governor.try': {
    about: 'show what the governor would have said of past turns; asks no model and no person',
    commands: { 'governor try': { options: { days: 'how many days back; 30 by default' }, example: '--days 30' } },
  },
  'opinion.list': {
    about: 'list the second opinions on a turn',
    commands: { 'model opinions': { takes: ['turnId'], example: 'trn_01JD7Q' } },
  },
} as const satisfies OpForms<'governor' | 'opinion'>;
