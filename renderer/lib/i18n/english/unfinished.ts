// Texts about unfinished work: failed turns and undelivered messages.

import { counted } from '../../../../core/base/counted.ts';

export const unfinished = {
  part: 'Unfinished',
  partCount: (count: number) => `Unfinished, ${count} waiting for you`,
  letters: 'Failed turns',
  lettersHelp:
    'Failed turns are kept here. An unattended turn is retried automatically when the cause may be temporary; every other one waits for you.',
  noLetters: 'No failed turns.',
  untitled: 'A conversation',
  natures: { transient: 'may be temporary', permanent: 'needs a change' },
  natureMeanings: {
    transient: 'The same message may succeed later without a change.',
    permanent: 'A retry fails the same way until something changes.',
  },
  states: { waiting: 'retried automatically', retrying: 'retrying', left: 'waiting for you' },
  over: (channel: string) => `from ${channel}`,
  nextIn: (time: string) => `Next attempt in ${time}`,
  nextNow: 'Next attempt now',
  attempts: (count: number) => (count === 1 ? 'failed once' : `failed ${count} times`),
  whatToDo: 'What to do',
  retry: 'Try again',
  retryOf: (title: string) => `Try again: ${title}`,
  clear: 'Dismiss',
  clearOf: (title: string) => `Dismiss: ${title}`,
  clearAll: 'Dismiss all',
  clearAllSure: 'Press again to dismiss all',
  lookAt: 'Show the turn',
  lookAtOf: (title: string) => `Show the turn: ${title}`,
  tried: (title: string) => `Retrying “${title}”.`,
  cleared: (title: string) => `“${title}” was dismissed.`,
  clearedAll: 'All failed turns were dismissed.',

  messages: 'Messages to chats',
  messagesHelp:
    'It is not always known whether a message arrived, for example when the connection ends at that moment. Such a message is never resent automatically.',
  noMessages: 'Every message was delivered.',
  onTheWay: (count: number) => (count === 1 ? '1 message is on its way.' : `${count} messages are on their way.`),
  to: (channel: string, chat: string) => `To ${channel}, chat ${chat}`,
  mayHaveArrived: 'may have arrived',
  notDelivered: 'not delivered',
  parts: (sent: number, parts: number) => `${sent} of ${parts} parts arrived`,
  files: (count: number) => counted(count, 'file'),
  arrived: 'It arrived',
  sendAgain: 'Send again',
  drop: 'Drop',
  actionOn: (action: string, text: string) => `${action}: ${text}`,
  settled: { sent: 'Marked as arrived.', resend: 'It is being sent again.', drop: 'It will not be sent.' },
} as const;
