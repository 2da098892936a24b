// Chat services: who may speak over mail, and whose answer decides. Data: each gate with what its removal is and who must notice.

import type { Gate } from '../gate.ts';

const headers = 'core/features/email/mail-headers.ts';
const mailTests = ['core/features/email/mail-headers.test.ts'];
const overMail = ['tests/channels/email-mail.test.ts'];

export const channelGates: readonly Gate[] = [
  {
    name: 'channels/mail-proof',
    prevents: 'a mail with a forged name is taken',
    file: 'core/features/email/mailbox.ts',
    text: 'mail.isAutomatic || !mail.isProven',
    instead: 'mail.isAutomatic',
    suites: overMail,
    only: 'a forged sender',
  },
  {
    name: 'channels/mail-of-programs',
    prevents: 'two programs answer each other for ever',
    file: 'core/features/email/mailbox.ts',
    text: 'mail.isAutomatic || !mail.isProven',
    instead: '!mail.isProven',
    suites: overMail,
    only: 'mail of programs',
  },
  {
    name: 'channels/verdict-of-the-server',
    prevents: 'a verdict that the sender wrote proves the sender',
    file: headers,
    text: '.find((value) => authservOf(value) === authserv.toLowerCase());',
    instead: '.at(0);',
    suites: mailTests,
  },
  {
    name: 'channels/verdict-of-the-domain',
    prevents: 'a verdict about one domain proves a sender of another',
    file: headers,
    text: "return property('header\\\\.from') === domain;",
    instead: 'return true;',
    suites: mailTests,
  },
  {
    name: 'channels/verdict-in-a-comment',
    prevents: 'a verdict in a comment proves a sender',
    file: headers,
    text: '.map(withoutFreeText)',
    instead: '',
    suites: mailTests,
  },
  {
    name: 'channels/answer-first-line',
    prevents: 'a quoted question answers itself',
    file: 'core/runtime/chats/questions.ts',
    text: String.raw`const answerLine = /^\s*(yes`,
    instead: String.raw`const answerLine = /(?:^|\n)\s*(yes`,
    suites: overMail,
    only: 'a wrong code decides nothing',
  },
  {
    name: 'channels/answer-without-condition',
    prevents: 'a yes with a condition behind it approves',
    file: 'core/runtime/chats/questions.ts',
    text: 'if (said.hasMore && asked?.wants === null) return null;',
    instead: '',
    suites: overMail,
    only: 'a wrong code decides nothing',
  },
  {
    name: 'channels/decide-by-code',
    prevents: 'the name on a mail is enough to approve',
    file: 'core/features/channels/service-channel.ts',
    text: "mayDecide: service.answers === 'buttons' }",
    instead: 'mayDecide: true }',
    suites: overMail,
    only: 'a wrong code decides nothing',
  },
  {
    name: 'channels/stranger',
    prevents: 'a person who is not paired talks to the agent',
    file: 'core/features/channels/reception.ts',
    text: 'if (!this.knows(message.senderId)) {',
    instead: 'if (message.senderId === "") {',
    suites: ['core/features/channels/reception.test.ts'],
  },
];
