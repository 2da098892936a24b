// Discord: the settings. Used by config.ts.

import * as z from 'zod';
import { webUrlSchema } from '../web-url.ts';
import { channelRules } from '../channels.ts';
import { secretRefSchema } from '../secret-ref.ts';

export const discordSchema = z.strictObject({
  token: secretRefSchema.meta({ title: 'Bot token', description: 'The token of your own bot.' }),
  apiRoot: webUrlSchema.optional().meta({ title: 'Server', description: 'The server of the API. Default: that of Discord.' }),
  ...channelRules,
});
export type DiscordConfig = z.infer<typeof discordSchema>;
