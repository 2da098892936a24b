// Email: a mailbox that people write to. Threads are sessions, automatic mail is never answered, a sender counts only with proof, and
// approvals are answered only with the code of the question.

import type { Clock } from '../../base/clock.ts';
import { channelRulesSchema, type ChatDesk, type ChatService, type ResolveSecret } from '../../contracts/channels.ts';
import type { Config } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';
import { emailSchema, type EmailConfig } from '../../contracts/features/email.ts';
import { trialOf } from '../../runtime/chats/chats.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { createMailPort, verifySending } from './mail-port.ts';
import { connectMailbox, readMailbox } from './mailbox.ts';

type Taken = Pick<Spine, 'config' | 'secrets' | 'clock'>;

const SECRET_LENGTH_MIN = 16;

export const email = defineBuiltInFeature({
  name: 'email',
  create: ({ config, secrets, clock }: Taken) => {
    const settings = config.channels.email;
    const serviceOf = (given: EmailConfig, resolve: ResolveSecret): ChatService =>
      createEmailService(given, config.attachments, { secrets: { resolve }, clock });
    return {
      services: settings === undefined ? [] : [serviceOf(settings, (reference) => secrets.resolve(reference))],
      trials: [trialOf('email', emailSchema, serviceOf)],
    };
  },
});

function createEmailService(settings: EmailConfig, limits: Config['attachments'], spine: Connecting): ChatService {
  const { agent, groups, allowFrom } = settings;
  return {
    name: 'email',
    title: 'email',
    rules: channelRulesSchema.parse({
      ...(agent === undefined ? {} : { agent }),
      groups,
      allowFrom: allowFrom.map((one) => one.toLowerCase()),
    }),
    answers: 'codes',
    answersStrangers: false,
    isPlain: true,
    run: (desk, signal) => serve({ settings, limits, ...spine, desk }, signal),
  };
}

interface Connecting {
  readonly secrets: { readonly resolve: ResolveSecret };
  readonly clock: Clock;
}

interface Serving extends Connecting {
  readonly settings: EmailConfig;
  readonly limits: Config['attachments'];
  readonly desk: ChatDesk;
}

async function serve({ settings, limits, secrets, clock, desk }: Serving, signal: AbortSignal): Promise<void> {
  const { imap, smtp, authserv, secretWord: wordRef, address } = settings;
  const resolve = async (ref: string | undefined) => (ref === undefined ? undefined : await secrets.resolve(ref));
  const password = await resolve(imap.password);
  const secretWord = (await resolve(wordRef)) ?? null;
  if (secretWord !== null && secretWord.length < SECRET_LENGTH_MIN) {
    throw new AppError('unauthorized', `The word of the secret address has fewer than ${SECRET_LENGTH_MIN} characters.`, {
      data: { field: 'secretWord' },
      hint: 'Set a longer one; anyone who guesses it can write as you.',
    });
  }
  if (secretWord === null && authserv === undefined) {
    throw new AppError('unauthorized', 'Nothing proves who wrote a mail: the name on it can be forged.', {
      data: { field: 'authserv' },
      hint: 'Name your server as its Authentication-Results headers do, or choose a word for a secret address.',
    });
  }
  const mailbox = { settings, password, limits, desk, nowMs: () => clock.nowMs(), trust: { address, authserv, secretWord } };
  const client = await connectMailbox(mailbox, signal);
  try {
    const sending = { settings, password: (await resolve(smtp.password)) ?? password, desk };
    desk.online({ port: createMailPort(sending), me: address, verify: () => verifySending(sending, signal) });
    await readMailbox(mailbox, client, signal);
  } finally {
    client.close();
  }
}
