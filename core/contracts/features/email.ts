// The settings of the mailbox that people write to. Used by config.ts.

import * as z from 'zod';
import { channelRules } from '../channels.ts';
import { secretRefSchema } from '../secret-ref.ts';

const serverSchema = (port: number) =>
  z
    .strictObject({
      host: z.string().min(1).max(253).meta({ title: 'Host', description: 'The name of the server.' }),
      port: z.number().int().min(1).max(65_535).default(port).meta({ title: 'Port', description: 'The port it listens on.' }),
      user: z.string().min(1).max(320).optional().meta({ title: 'User name', description: 'Default: the address.' }),
      password: secretRefSchema.optional().meta({
        title: 'Password',
        description: 'Often an app password; in the file a reference to it. For sending, the one for reading by default.',
      }),
      /** `plain` sends passwords unencrypted, and is accepted only for this computer. */
      security: z
        .enum(['tls', 'starttls', 'plain'])
        .default('tls')
        .meta({ title: 'Security', description: '`starttls` for port 587 or 143. `plain` is for a server on this computer alone.' }),
    })
    .refine(({ security, host }) => security !== 'plain' || ['127.0.0.1', '::1', 'localhost'].includes(host), {
      path: ['security'],
      message: 'plain is for a server on this computer alone; use tls or starttls',
    });

export const emailSchema = z.strictObject({
  address: z.email().max(320).meta({ title: 'Address', description: 'The address people write to. Give the agent a separate mailbox.' }),
  imap: serverSchema(993).meta({ title: 'Incoming mail (IMAP)', description: 'The server of the mailbox.' }),
  smtp: serverSchema(465).meta({ title: 'Outgoing mail (SMTP)', description: 'The server that sends the answers.' }),
  folder: z.string().min(1).max(200).default('INBOX').meta({ title: 'Folder', description: 'The folder that is read.' }),
  /** The name with which the receiving server marks its verdicts: the first word of `Authentication-Results`. */
  authserv: z.string().min(1).max(253).optional().meta({
    title: 'Server whose verdict counts',
    description:
      'The first word of the `Authentication-Results` headers of your server. A sender counts as proven by its DMARC or DKIM verdict.',
  }),
  /** Mail to `name+WORD@…` counts as proven, because only the user gives out that address. */
  secretWord: secretRefSchema.optional().meta({
    title: 'Secret address',
    description:
      'A word of at least 16 characters; in the file a reference to it. Mail to `name+WORD@domain` counts as proven without a verdict.',
  }),
  ...channelRules,
});
export type EmailConfig = z.infer<typeof emailSchema>;
