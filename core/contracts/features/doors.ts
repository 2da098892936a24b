// Doors for other programs: the settings, the tokens that open them, their events (all in the system session) and the operations.

import * as z from 'zod';
import { defineOps, none } from '../define-ops.ts';
import { usageSchema } from '../llm.ts';
import { privateParts } from '../outsider.ts';

export const tokenDoorSchema = z.enum(['openai', 'ollama', 'a2a', 'mcp']);
export type TokenDoor = z.infer<typeof tokenDoorSchema>;

export const doorsConfigSchema = z
  .strictObject({
    /** The port of `trayclaw serve`, which the tray app opens at its start. Without one the app listens only when it is asked. */
    port: z.number().int().min(1).max(65_535).optional(),
    openai: z
      .strictObject({
        /** Enabled by default, because nothing can be reached without a token. */
        enabled: z.boolean().default(true),
        /** How long a request without streaming waits for an approval. */
        approvalSeconds: z.number().int().min(0).max(3600).default(120),
      })
      .prefault({}),
    /** The door that speaks Ollama's API. */
    ollama: z.strictObject({ enabled: z.boolean().default(false) }).prefault({}),
    /** The door for agents on other machines. */
    a2a: z.strictObject({ enabled: z.boolean().default(false) }).prefault({}),
    /** The door for clients of the Model Context Protocol, at /mcp. */
    mcp: z.strictObject({ enabled: z.boolean().default(true) }).prefault({}),
  })
  .prefault({});

/** A scope names a group, a single item, or a prefix followed by `*`. */
const modelScopes = {
  names: ['agents', 'passthrough', 'embeddings', ...privateParts, 'grants', 'all'],
  pattern: /^(trayclaw(\/[^\s*]{1,200}\*?|\/\*)?|passthrough\/([^\s*]{1,300}\*?|\*))$/,
  words: 'or a model such as trayclaw/writer or passthrough/lab/*',
};
const mcpScopes = {
  names: ['agents', 'tools', ...privateParts, 'grants', 'approvals', 'all'],
  pattern: /^(trayclaw(\/[^\s*]{1,200}\*?|\/\*)?|tools\/[^\s*]{1,100}\*?)$/,
  words: 'or one agent or tool such as trayclaw/writer or tools/read_file',
};

/** Null if the scope is valid for the door, otherwise what it must be. */
export function wrongScope(door: TokenDoor, scope: string): string | null {
  const { names, pattern, words } = door === 'mcp' ? mcpScopes : modelScopes;
  return names.includes(scope) || pattern.test(scope) ? null : `must be ${names.join(', ')}, ${words}`;
}

/**
 * `agents`, `passthrough`, `embeddings`, `tools` and `all` are groups. Any other scope is a single item, or a prefix and `*`. `all` does
 * not include `approvals` and `grants`: answering for the person, and using the person's grants, must be given by name.
 */
export function scopeIncludes(scope: string, what: string): boolean {
  if (scope === 'all') return what !== 'approvals' && what !== 'grants';
  if (scope === 'agents') return what === 'trayclaw' || what.startsWith('trayclaw/');
  if (scope === 'passthrough' || scope === 'tools') return what.startsWith(`${scope}/`);
  if (scope.endsWith('*')) return what.startsWith(scope.slice(0, -1));
  return scope === what;
}

const tokenNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/, 'must be up to 40 letters, digits, dots, dashes and underscores');

const tokenFields = {
  tokenId: z.string(),
  door: tokenDoorSchema,
  name: z.string(),
  scopes: z.array(z.string()),
  perMinute: z.number().int(),
  /** US dollars per local day; null for no limit besides the program's own. */
  perDayUsd: z.number().nullable(),
};
export const doorTokenSchema = z.object(tokenFields);
export type DoorToken = z.infer<typeof doorTokenSchema>;

const tokenViewSchema = doorTokenSchema.extend({
  createdAtMs: z.number().int(),
  /** Precise to the minute; null if the token was never used. */
  lastUsedAtMs: z.number().int().nullable(),
  spentTodayUsd: z.number(),
});
export type DoorTokenView = z.infer<typeof tokenViewSchema>;

const doorEvents = {
  /** `digest` is the SHA-256 hash of the token; the token itself is not stored. */
  'door.token_created': z.object({ ...tokenFields, digest: z.string(), by: z.string() }),
  'door.token_revoked': z.object({ tokenId: z.string(), by: z.string() }),
  /** A model answered a program directly: a passthrough request without a turn. Its texts are not stored. */
  'door.answered': z.object({
    door: z.string(),
    /** The name of the token. */
    client: z.string(),
    model: z.string(),
    messages: z.number().int(),
    /** The tools that the model asked the program to call. */
    calls: z.array(z.string()),
    finishReason: z.string(),
    error: z.string().optional(),
    usage: usageSchema,
    costUsd: z.number().nullable(),
    tookMs: z.number(),
  }),
} as const;

export const doorOps = defineOps({
  /** The doors for other programs, whether each is open, and its paths on the served address. */
  'door.list': {
    params: none,
    result: z.object({
      doors: z.array(z.object({ door: tokenDoorSchema, enabled: z.boolean(), paths: z.array(z.string()), tokens: z.number().int() })),
    }),
    about: 'list the doors for other programs, and whether each is open',
    commands: { 'doors list': { example: '' } },
  },
  /** `key` is the token itself. It appears only in this result. */
  'door.create_token': {
    params: z
      .strictObject({
        door: tokenDoorSchema.default('openai'),
        name: tokenNameSchema.optional(),
        scope: z.array(z.string().max(310)).min(1).max(50).optional(),
        perMinute: z.number().int().min(1).max(6000).optional(),
        perDayUsd: z.number().nonnegative().optional(),
      })
      .superRefine(({ door, scope = [] }, context) => {
        for (const [at, one] of scope.entries()) {
          const message = wrongScope(door, one);
          if (message !== null) context.addIssue({ code: 'custom', path: ['scope', at], message });
        }
      }),
    result: doorTokenSchema.extend({ key: z.string() }),
    about: 'create a token for a program; it is shown once and stored nowhere',
    forPerson: true,
    commands: {
      'doors token create': {
        options: {
          door: 'the door it opens; openai when left out',
          name: 'what to call it; shown with everything the program does',
          scope: {
            about:
              'what it may use: agents (when left out), all, a part of the door such as tools/read_file, or memory, documents, sessions, files, grants; may be repeated',
            repeats: true,
          },
          perMinute: 'how many requests a minute; 60 when left out',
          perDayUsd: 'how many US dollars a day; only your own budgets when left out',
        },
        example: '--door openai --name editor --scope agents',
      },
    },
  },
  'door.list_tokens': {
    params: none,
    result: z.object({ tokens: z.array(tokenViewSchema) }),
    about: 'list the tokens: what each may use and when it was last used',
    commands: { 'doors token list': { example: '' } },
  },
  /** Effective at once, including for requests in progress. */
  'door.revoke_token': {
    params: z.strictObject({ token: z.string().min(1).max(100) }),
    result: doorTokenSchema,
    about: 'revoke a token; its requests in progress end at once',
    shows: 'Revoked {name}. It opens nothing any more.',
    forPerson: true,
    commands: {
      'doors token revoke': { takes: ['token'], words: { token: 'its name or id, as in: doors token list' }, example: 'editor' },
    },
  },
});

export const doorContract = {
  events: doorEvents,
  ops: doorOps,
  families: { door: 'Doors for other programs' },
  help: { doors: ['Set up', 'ways in for other programs'], 'doors token': ['Set up', 'the tokens that let programs in'] },
} as const;
