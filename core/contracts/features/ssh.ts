// The settings of remote machines that are used by ssh. Used by config.ts.

import * as z from 'zod';

/** Takes the schema of secret references, so that the program knows the keys. */
export function sshConfigSchema(secretRef: z.ZodType<string, string>) {
  const host = z.strictObject({
    host: z.string().min(1).max(253),
    port: z.number().int().min(1).max(65_535).default(22),
    user: z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, 'must be a user name'),
    /** A private key. Without it, the keys of the person's ssh agent are used. */
    key: secretRef.optional(),
    passphrase: secretRef.optional(),
    /** The name of another of these hosts, used as a jump host. */
    jump: z.string().optional(),
  });
  return z
    .strictObject({
      hosts: z.record(z.string().regex(/^[a-z0-9][a-z0-9.-]{0,62}$/, 'must be a short name'), host).default({}),
      /** Hosts of ~/.ssh/config that the agent may use with approval. */
      fromUserConfig: z.array(z.string().regex(/^[A-Za-z0-9][\w.-]{0,62}$/, 'must be a Host of ~/.ssh/config')).default([]),
    })
    .prefault({});
}

export type SshConfig = z.infer<ReturnType<typeof sshConfigSchema>>;
export type SshHost = SshConfig['hosts'][string];
