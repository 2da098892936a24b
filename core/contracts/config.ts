// The schema of config.yaml. Unknown and invalid keys are refused by name.

import * as z from 'zod';
import { webConfigSchema } from './web-config.ts';
import { webUrlSchema } from './web-url.ts';
import { mindSections } from './features/memory.ts';
import { a2aConfigSchema } from './features/a2a.ts';
import { browserConfigSchema } from './features/browser.ts';
import { mcpConfigSchema } from './features/mcp.ts';
import { telegramSchema } from './features/telegram.ts';
import { telemetryConfigSchema } from './features/telemetry.ts';
import { pluginsConfigSchema } from './features/plugins.ts';
import { doorsConfigSchema } from './features/doors.ts';
import { heartbeatConfigSchema } from './features/schedule.ts';
import { signalsConfigSchema } from './features/signals.ts';
import { discordSchema } from './features/discord.ts';
import { emailSchema } from './features/email.ts';
import { deadLettersConfigSchema } from './features/dead-letters.ts';
import { agentsSchema, helpersSchema } from './agents.ts';
import { modelRefSchema } from './model-ref.ts';
import { naming, namingKeys } from './named-things.ts';
import { routesSchema } from './model-routes.ts';
import { hookConfigSchema } from './features/hooks.ts';
import { promptsConfigSchema } from './features/identity.ts';
import { governorConfigSchema } from './features/governor.ts';
import { panelsSchema } from './features/opinions.ts';
import { verifyConfigSchema } from './features/verify.ts';
import { namedValuesSchema, secretRefSchema } from './secret-ref.ts';
import { serverNames } from './server-names.ts';
import { sshConfigSchema } from './features/ssh.ts';
import { skillsConfigSchema } from './features/skills.ts';
import { toolClassSchema } from './tools.ts';

export { modelRefSchema } from './model-ref.ts';
export { secretRefSchema } from './secret-ref.ts';

const headersSchema = z.record(z.string(), z.string()).optional();
export const pricesSchema = z
  .record(
    z.string(),
    z.strictObject({
      inputUsdPerMillion: z.number().nonnegative(),
      outputUsdPerMillion: z.number().nonnegative(),
      cachedInputUsdPerMillion: z.number().nonnegative().optional(),
    }),
  )
  .optional();
/** No longer has an effect, because there is one adapter per format. Kept so that older files remain valid; setting it causes a warning. */
const viaSchema = z.enum(['native', 'ai-sdk']).optional();
/**
 * The API of an OpenAI server. At OpenAI itself it follows from the model; elsewhere it defaults to `chat`. With `responses`, newer models
 * reason between the calls of a turn, and models that are not offered otherwise can be used.
 */
const formatSchema = z.enum(['chat', 'responses']).optional();
/** Additional keys. The next key is used while the previous one is refused or has used up its quota. */
const keysSchema = z.array(secretRefSchema).min(1).max(20).optional();
const modelSettings = {
  headers: headersSchema,
  prices: pricesSchema,
  contextTokens: z.number().int().min(1024).optional(),
  /** Whether its models receive images. Defaults to true for openai and anthropic, and to false for others. */
  images: z.boolean().optional(),
};

const vendorSettings = { apiKey: secretRefSchema, keys: keysSchema, baseUrl: webUrlSchema.optional(), via: viaSchema, ...modelSettings };

export const providerSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('openai'), format: formatSchema, ...vendorSettings }),
  z.strictObject({ kind: z.literal('anthropic'), ...vendorSettings }),
  z.strictObject({
    kind: z.literal('openai-compatible'),
    baseUrl: webUrlSchema,
    apiKey: secretRefSchema.optional(),
    keys: keysSchema,
    via: viaSchema,
    format: formatSchema,
    /** The kind of server, if the address does not tell it (a proxy, or the user's own server). */
    preset: z.enum(serverNames).optional(),
    ...modelSettings,
  }),
  z.strictObject({ kind: z.literal('ollama'), baseUrl: webUrlSchema.optional(), ...modelSettings }),
  z.strictObject({
    kind: z.literal('cortensor'),
    /** The address of a router node; defaults to the hosted portal. */
    baseUrl: webUrlSchema.optional(),
    apiKey: secretRefSchema.optional(),
    /** The session of a router node; the portal has none. */
    sessionId: z.number().int().nonnegative().optional(),
    api: z.enum(['v1', 'v2', 'v3']).default('v2'),
    /** Whether answers are streamed. The encrypted flows of v2 and v3 may refuse that. */
    stream: z.boolean().default(false),
    timeoutMs: z.number().int().min(1_000).max(600_000).default(420_000),
    /** Proof of payment for calls that the person approves to pay for. */
    payment: secretRefSchema.optional(),
    ...modelSettings,
  }),
  z.strictObject({
    /** A GGUF file on this computer, run by the engine that `trayclaw model install-engine` adds. */
    kind: z.literal('embedded'),
    /** Absolute, below ~/ or below the data folder. */
    file: z.string().trim().min(1).max(1000),
    contextTokens: modelSettings.contextTokens,
    threads: z.number().int().min(1).max(256).optional(),
  }),
  z.strictObject({
    /** A provider package of the AI SDK, installed in the folder `packages` of the data folder. */
    kind: z.literal('ai-sdk'),
    package: z.string().regex(/^(@[a-z0-9][a-z0-9._-]{0,100}\/)?[a-z0-9][a-z0-9._-]{0,100}$/, 'must be the name of an npm package'),
    apiKey: secretRefSchema.optional(),
    keys: keysSchema,
    baseUrl: webUrlSchema.optional(),
    /** Options that are passed to the package, such as `region`. */
    options: namedValuesSchema(z.union([secretRefSchema, z.string().max(8000)])).optional(),
    ...modelSettings,
  }),
  z.strictObject({ kind: z.literal('demo') }),
]);
export type ProviderConfig = z.infer<typeof providerSchema>;

/** The service for web searches. A baseUrl is used as configured, even on this computer; no other address is opened by it. */
const sandboxDomainSchema = z
  .string()
  .regex(/^(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d{1,5})?$/, 'must be a domain, *.domain, or either with :port');
/** A path or a pattern. Other forms of patterns would match less than their author means. */
const deniedPathSchema = z.string().regex(/^(?!.*[@!+?*]\()./u, 'a pattern knows *, **, ?, [a-z] and {a,b}');
const nameOrBeginning = (what: string) => z.string().regex(/^[A-Za-z0-9_.:-]{1,64}\*?$/, `must be ${what}; it may end with *`);
const ruleTool = naming('tool', nameOrBeginning('the name of a tool'), (text) => (text.endsWith('*') ? null : text));
const names = (name: z.ZodString) => z.array(name).min(1).max(100).optional();

const domainPattern = /^(\*\.)?(\[[^\]]+\]|[^:/@?#\s*]+)(:\d{1,5})?$/;
const globPattern = /^(?![~!])(?!(?:.*[\\/])?\.\.(?:[\\/]|$))[^\0]{1,500}$/;

/** The conditions of a rule. All given conditions must hold; one matching entry of a list is enough. */
export const policyWhenSchema = z
  .strictObject({
    tools: names(ruleTool),
    classes: z.array(toolClassSchema).min(1).optional(),
    agents: names(nameOrBeginning('the id of an agent')),
    channels: names(nameOrBeginning('a channel such as window, cli, http, library or telegram')),
    hosts: z
      .array(z.string().regex(domainPattern, 'must be a domain such as example.org or *.example.org; no scheme, no path'))
      .min(1)
      .max(1000)
      .optional(),
    /** Files and folders with everything below, relative to the workspace or absolute; * and ** as usual. */
    paths: z
      .array(
        z
          .string()
          .regex(globPattern, 'must be a path or glob, relative to the workspace or absolute; no ~, no .. and no ! at its beginning'),
      )
      .min(1)
      .max(1000)
      .optional(),
    /** The first words of a command. */
    commands: z.array(z.string().trim().min(1).max(500)).min(1).max(1000).optional(),
  })
  .refine((when) => Object.values(when).some((list) => list !== undefined), {
    message: 'a rule needs at least one of tools, classes, agents, channels, hosts, paths, commands',
  });

export const policyRuleSchema = z.strictObject({
  when: policyWhenSchema,
  then: z.enum(['allow', 'ask', 'deny']),
  reason: z.string().trim().min(1).max(300).optional(),
});
export type PolicyRule = z.infer<typeof policyRuleSchema>;

/**
 * supervised: reads inside the workspace are free. workspace-free: so are changes of files inside it. locked-down: only reads inside the
 * workspace are possible.
 */
export const policyModeSchema = z.enum(['supervised', 'workspace-free', 'locked-down']);
export type PolicyMode = z.infer<typeof policyModeSchema>;

const callsPerMinute = z.number().int().min(0).max(10_000);
const callsPerMinuteSchema = z
  .object({ network: callsPerMinute.default(60), message: callsPerMinute.default(20), exec: callsPerMinute.default(60) })
  .catchall(callsPerMinute);

export const configSchema = z.strictObject({
  providers: z.record(z.string().regex(/^[A-Za-z0-9_-]+$/, 'must be letters, digits, - and _'), providerSchema).default({}),
  models: z
    .strictObject({
      /** A model, or a route as route/NAME. */
      default: modelRefSchema.optional(),
      routes: routesSchema.default({}),
      timeouts: z
        .strictObject({
          connectMs: z.number().int().positive().default(10_000),
          firstTokenMs: z.number().int().positive().default(120_000),
          idleMs: z.number().int().positive().default(60_000),
          totalMs: z.number().int().positive().default(600_000),
        })
        .prefault({}),
      retries: z.number().int().min(0).max(10).default(2),
      /** Models that answer together for a second opinion. */
      panels: panelsSchema,
    })
    .prefault({}),
  budget: z
    .strictObject({
      perCallUsd: z.number().nonnegative().optional(),
      perCallTokens: z.number().int().positive().optional(),
      perTurnUsd: z.number().nonnegative().optional(),
      perSessionUsd: z.number().nonnegative().optional(),
      perDayUsd: z.number().nonnegative().optional(),
      perTurnTokens: z.number().int().positive().optional(),
      perSessionTokens: z.number().int().positive().optional(),
      perDayTokens: z.number().int().positive().optional(),
    })
    .prefault({}),
  limits: z
    .strictObject({
      steps: z.number().int().min(1).max(1000).default(50),
      turnMs: z.number().int().positive().default(3_600_000),
      /** How often a call with the same arguments and the same result may run in one turn. */
      sameCall: z.number().int().min(1).max(100).default(3),
      parallelReads: z.number().int().min(1).max(32).default(8),
      parallelTurns: z.number().int().min(1).max(256).default(8),
      queuedMessages: z.number().int().min(1).max(1000).default(20),
    })
    .prefault({}),
  workspace: z.strictObject({ path: z.string().min(1).optional(), extraFolders: z.array(z.string().min(1)).default([]) }).prefault({}),
  policy: z
    .strictObject({
      mode: policyModeSchema.default('supervised'),
      allowCommands: z.array(z.string().min(1)).default([]),
      allowDomains: z.array(z.string().min(1)).default([]),
      denyDomains: z.array(z.string().min(1)).default([]),
      denyTools: z.array(naming('tool', z.string().min(1))).default([]),
      /** The first rule that matches applies. */
      rules: z.array(policyRuleSchema).max(200).default([]),
      limits: z
        .strictObject({
          /** By class or tool name. Above the limit a call needs an approval. */
          callsPerMinute: namingKeys('tool', callsPerMinuteSchema, (key) => !toolClassSchema.safeParse(key).success).prefault({}),
        })
        .prefault({}),
    })
    .prefault({}),
  sandbox: z
    .strictObject({
      mode: z.enum(['off', 'auto', 'required']).default('auto'),
      backend: z.enum(['srt', 'openshell']).optional(),
      /** Folders and files; absolute, below ~ or below the workspace. `deny` also accepts patterns. */
      files: z
        .strictObject({
          read: z.array(z.string().min(1)).default([]),
          write: z.array(z.string().min(1)).default([]),
          deny: z.array(deniedPathSchema).default([]),
        })
        .prefault({}),
      network: z.strictObject({ allowDomains: z.array(sandboxDomainSchema).default([]) }).prefault({}),
      environment: z
        .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*\*?$/, 'must be the name of a variable, or its beginning and *'))
        .default(['PATH', 'LANG', 'LANGUAGE', 'LC_*', 'TERM', 'TZ', 'USER', 'LOGNAME', 'SHELL']),
      limits: z
        .strictObject({
          timeoutMs: z.number().int().min(1000).default(3_600_000),
          processes: z.number().int().min(16).max(30_000).default(512),
          memoryMb: z.number().int().min(64).default(4096),
          fileMb: z.number().int().min(1).default(1024),
        })
        .prefault({}),
    })
    .prefault({}),
  tools: z
    .strictObject({
      execTimeoutMs: z.number().int().positive().default(120_000),
      outputBytesMax: z.number().int().min(1024).default(48_000),
    })
    .prefault({}),
  web: webConfigSchema,
  attachments: z
    .strictObject({
      fileBytesMax: z.number().int().min(1).max(100_000_000).default(5_000_000),
      messageBytesMax: z.number().int().min(1).max(500_000_000).default(8_000_000),
      filesMax: z.number().int().min(0).max(50).default(10),
    })
    .prefault({}),
  channels: z
    .strictObject({
      telegram: telegramSchema.optional(),
      discord: discordSchema.optional(),
      email: emailSchema.optional(),
    })
    .prefault({}),
  /** Doors for other programs. */
  doors: doorsConfigSchema,
  a2a: a2aConfigSchema(secretRefSchema),
  agents: agentsSchema,
  helpers: helpersSchema,
  skills: skillsConfigSchema,
  /** Remote sources of prompt files, keyed by the prompt's name. */
  prompts: promptsConfigSchema,
  signals: signalsConfigSchema,
  heartbeat: heartbeatConfigSchema,
  ...mindSections,
  desktop: z
    .strictObject({
      /** The global keys of the panic stop in Electron's format; empty for none. */
      panicKeys: z.string().max(100).default('CommandOrControl+Alt+Shift+Escape'),
      /** The feed of new versions. Without it there are no updates. */
      updateFeed: webUrlSchema.optional(),
    })
    .prefault({}),
  safety: z
    .strictObject({
      /** Kinds of personal data that are redacted like secrets. */
      personalData: z.array(z.enum(['card', 'iban', 'email', 'phone'])).default(['card', 'iban']),
    })
    .prefault({}),
  secrets: z
    .strictObject({
      /** The store of secrets. `auto` is the keychain, or an encrypted file if there is no keychain or the file exists. */
      store: z.enum(['auto', 'keychain', 'vault']).default('auto'),
    })
    .prefault({}),
  deadLetters: deadLettersConfigSchema,
  /** Plugins that the person added. */
  plugins: pluginsConfigSchema,
  /** Servers of the Model Context Protocol whose tools the agent may use. */
  mcp: mcpConfigSchema,
  /** Receivers of the traces of turns; none by default. */
  telemetry: telemetryConfigSchema,
  browser: browserConfigSchema(secretRefSchema),
  /** Remote machines that the agent may use with approval. */
  ssh: sshConfigSchema(secretRefSchema),
  /** The person's programs that run before and after actions of the agent. */
  hooks: z.array(hookConfigSchema).max(50).default([]),
  governor: governorConfigSchema,
  /** A second check of calls before they run. */
  verify: verifyConfigSchema,
  /** How a long conversation fits into a model request. */
  context: z
    .strictObject({
      summaries: z
        .strictObject({
          /** model: the model of the conversation writes summaries. extract: summaries are assembled by rule. */
          mode: z.enum(['model', 'extract', 'off']).default('model'),
          /** A different model for summaries. */
          model: modelRefSchema.optional(),
          /** A summary is written when there are more messages than this without one. */
          messages: z.number().int().min(6).max(1000).default(20),
          /** Or when they fill more than this share of the context window. */
          windowShare: z.number().min(0.1).max(0.95).default(0.75),
          /** The newest messages, which are never summarized. */
          keepMessages: z.number().int().min(4).max(200).default(4),
        })
        .prefault({}),
      /**
       * Shows the model AGENTS.md, or CLAUDE.md, of the session's folder: as untrusted material, and as instructions once a person accepted
       * it.
       */
      projectFile: z.boolean().default(true),
      /** A file, relative to the data folder, that gets a JSON line for every pack, model call and turn. None by default. */
      packLog: z
        .string()
        .max(500)
        .regex(/^(?![/\\~])(?!(?:.*[\\/])?\.\.(?:[\\/]|$))[^\0:]+$/, 'must be a path inside the data folder, such as logs/packs.jsonl')
        .optional(),
    })
    .prefault({}),
  backup: z
    .strictObject({
      /** Makes copies of the database automatically. */
      automatic: z.boolean().default(true),
      everyHours: z.number().min(1).max(8760).default(24),
      /** The number of automatic backups kept. Backups that a person made are limited by retention.backups. */
      keep: z.number().int().positive().max(1000).default(3),
    })
    .prefault({}),
  retention: z
    .strictObject({
      artifactDays: z.number().int().positive().default(90),
      backups: z.number().int().positive().default(7),
      /** How long replaced files are kept for undo. */
      undoDays: z.number().int().positive().default(30),
    })
    .prefault({}),
});
export type Config = z.infer<typeof configSchema>;
/** `plugins` may be the list of files alone. */
export type ConfigInput = Omit<z.input<typeof configSchema>, 'plugins'> & {
  plugins?: z.input<typeof pluginsConfigSchema> | readonly string[];
};
