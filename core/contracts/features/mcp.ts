// Servers of the Model Context Protocol: programs and web services whose tools the agent may use after a person approved them. The
// settings, the events and the operations.

import * as z from 'zod';
import { defineOps, id, none } from '../define-ops.ts';
import { namedValuesSchema, secretRefSchema } from '../secret-ref.ts';
import { artifactRefSchema } from '../tools.ts';

/** The prefix of the server's tool names, such as `files__read`. It contains no underscore, so that no two servers share a prefix. */
export const mcpServerNameSchema = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be 1 to 31 small letters, digits or dashes, and begin with a letter');

const plainSchema = z.string().max(8000);

function serverFields(value: z.ZodType<string, string>) {
  return {
    /** A program to run without a shell. Either this or `url` is given. */
    command: z.string().min(1).max(4096).optional(),
    args: z.array(z.string().max(8192)).max(200).optional(),
    /** The only environment variables that the server gets, besides PATH, HOME and similar ones. */
    env: namedValuesSchema(value).optional(),
    /** The working directory, relative to the workspace; defaults to the home folder, and to the workspace if the server is confined. */
    cwd: z.string().min(1).max(4096).optional(),
    /** The address of a server that speaks Streamable HTTP. */
    url: z
      .url({ protocol: /^https?$/ })
      .max(2000)
      .optional(),
    headers: namedValuesSchema(value).optional(),
    /** The client that was registered in advance, for a sign-in server without dynamic registration. */
    clientId: z.string().min(1).max(500).optional(),
    clientSecret: secretRefSchema.optional(),
    /** Runs the server in the sandbox for commands. Otherwise it has the person's rights, except on this program's data. */
    confined: z.boolean().optional(),
    enabled: z.boolean().optional(),
    /** For one call, not counting the time a question to the person is open. */
    timeoutMs: z.number().int().min(1000).max(3_600_000).optional(),
    /** The time until the server must have answered for the first time. */
    startMs: z.number().int().min(500).max(600_000).optional(),
  };
}

function serverSchema(value: z.ZodType<string, string>) {
  return z.strictObject(serverFields(value)).superRefine(({ command, url, ...rest }, context) => {
    if ((command === undefined) === (url === undefined))
      context.addIssue({ code: 'custom', message: 'needs either command (a program to run) or url (a web address)' });
    const foreign = (
      url === undefined ? ['headers', 'clientId', 'clientSecret'] : ['args', 'env', 'cwd', 'confined']
    ) as (keyof typeof rest)[];
    for (const key of foreign) {
      if (rest[key] !== undefined)
        context.addIssue({ code: 'custom', path: [key], message: `belongs to a server with ${url === undefined ? 'url' : 'command'}` });
    }
  });
}

export const mcpServerSchema = serverSchema(plainSchema);
export type McpServerConfig = z.infer<typeof mcpServerSchema>;

/** Contains secret references, so that the program knows the secrets of the servers. */
export const mcpConfigSchema = z
  .strictObject({
    servers: z.record(mcpServerNameSchema, serverSchema(z.union([secretRefSchema, plainSchema]))).default({}),
    /** If there are more tools than this, the model searches for tools instead of seeing all of them. */
    toolsShown: z.number().int().min(0).max(128).default(24),
  })
  .prefault({});

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex');

/** A tool of a server as a person approved it. */
export const mcpToolSchema = z.object({
  /** The name that the server uses. */
  name: z.string(),
  description: z.string(),
  /** The JSON schema of its arguments. */
  schema: z.record(z.string(), z.unknown()),
  /** Whether the server declares the tool destructive. */
  isDestructive: z.boolean(),
  /** Hash of the name, description, schema and `isDestructive`. */
  sha256: z.string(),
});
export type McpTool = z.infer<typeof mcpToolSchema>;

/** The generation of the protocol. legacy: revisions up to 2025-11-25. modern: 2026-07-28. */
export const mcpEraSchema = z.enum(['legacy', 'modern']);
export type McpEra = z.infer<typeof mcpEraSchema>;

const mcpEvents = {
  /** A person approved the server as defined, with exactly these tools. `definition` is the SHA-256 of its entry in config.yaml. */
  'mcp.approved': z.object({
    server: z.string(),
    definition: z.string(),
    sha256: z.string(),
    era: mcpEraSchema,
    tools: z.array(mcpToolSchema),
    by: z.string(),
  }),
  /** A server executes a call as a task with this id. After a restart, the program follows the task instead of calling again. */
  'mcp.task_started': z.object({ server: z.string(), tool: z.string(), callId: z.string(), taskId: z.string() }),
  /** A person removed the server, and its approval with it. */
  'mcp.removed': z.object({ server: z.string(), by: z.string() }),
  /** A server asks a person something during a call. The call waits for `mcp.answer`. */
  'mcp.asked': z.object({ server: z.string(), tool: z.string(), questionId: z.string(), callId: z.string(), message: z.string() }),
  /** A question of a server ended: a person answered it, or it timed out. The answer itself was sent only to the server. */
  'mcp.answered': z.object({
    server: z.string(),
    question: z.string(),
    action: z.enum(['accept', 'decline', 'cancel']),
    fields: z.array(z.string()),
    by: z.string(),
  }),
} as const;

/**
 * off: switched off. waiting: not approved as currently defined. idle: approved, not started. changed: some tools differ from the approved
 * ones and are withheld. sign-in: a person has to sign in. failed: see `problem`.
 */
export const mcpStates = ['off', 'waiting', 'idle', 'starting', 'connected', 'changed', 'sign-in', 'failed'] as const;

/**
 * approved: the model may use it. new, changed: differs from the approved tools, and is withheld. gone: approved, but no longer offered.
 * refused: unusable.
 */
const offeredToolSchema = z.object({
  /** The name that the model uses. */
  name: z.string(),
  title: z.string(),
  description: z.string(),
  state: z.enum(['approved', 'new', 'changed', 'gone', 'refused']),
  problem: z.string().nullable(),
  isDestructive: z.boolean(),
  sha256: z.string(),
  schema: z.record(z.string(), z.unknown()),
});

export const mcpServerViewSchema = z.object({
  name: z.string(),
  state: z.enum(mcpStates),
  problem: z.string().nullable(),
  /** The command line, or the address. */
  runs: z.string(),
  /** Everything the server gets: variables, headers, the sandbox. */
  gets: z.array(z.string()),
  transport: z.enum(['stdio', 'http']),
  protocol: z.string().nullable(),
  /** Approving this hash approves the server and its tools as shown. Null until the server was reached. */
  sha256: z.string().nullable(),
  tools: z.array(offeredToolSchema),
});
export type McpServerView = z.infer<typeof mcpServerViewSchema>;

const questionSchema = z.object({
  questionId: z.string(),
  server: z.string(),
  /** The tool whose call asked the question; empty, like the ids, if several calls run: it is in the system session then. */
  tool: z.string(),
  sessionId: z.string(),
  turnId: z.string(),
  callId: z.string(),
  message: z.string(),
  /** The fields to fill in; null if the person is asked to open an address. */
  schema: z.record(z.string(), z.unknown()).nullable(),
  url: z.string().nullable(),
  askedAtMs: z.number(),
  dueAtMs: z.number(),
});
export type McpQuestion = z.infer<typeof questionSchema>;

/** The outcome of a question. `by` is the caller, `timeout`, or the end of the call. */
export interface EndedQuestion {
  readonly question: McpQuestion;
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly fields: readonly string[];
  readonly by: string;
}

const named = z.strictObject({ name: mcpServerNameSchema });
const view = z.object({ server: mcpServerViewSchema });

export const mcpOps = defineOps({
  'mcp.list': {
    params: none,
    result: z.object({ servers: z.array(mcpServerViewSchema), questions: z.array(questionSchema) }),
    about: 'list the MCP servers: what each runs, its state and its tools, and the questions that wait for you',
    commands: { 'mcp list': { example: '' } },
  },
  /** Adds the server to config.yaml. Starts nothing. */
  'mcp.add': {
    params: z.strictObject({ ...serverFields(plainSchema), name: mcpServerNameSchema, replace: z.boolean().optional() }),
    result: view,
    about: 'add an MCP server to config.yaml; starts nothing',
    forPerson: true,
    commands: {
      'mcp add': {
        takes: ['name', 'command?', 'args...?'],
        paths: ['cwd'],
        words: { command: 'the program; put -- before it when its arguments begin with dashes', args: 'its arguments' },
        options: {
          url: 'the address of a server on the web, instead of a program',
          cwd: 'the folder the program runs in; your home folder unless given, the workspace with --confined',
          env: 'a variable of it, as often as needed; secrets are keychain:NAME, env:NAME or file:PATH',
          headers: { flag: 'header', about: 'a header for a server on the web, as often as needed; secrets as above' },
          clientId: 'the client id agreed upon with a sign-in server that registers no clients',
          clientSecret: 'the secret of that client, as keychain:NAME, env:NAME or file:PATH',
          confined: 'run it in the sandbox of commands',
          replace: 'replace the server of that name',
        },
        example: 'web --url http://127.0.0.1:3901/mcp',
      },
    },
  },
  'mcp.remove': {
    params: named,
    result: z.object({ name: z.string() }),
    about: 'remove an MCP server from config.yaml, and its approval',
    forPerson: true,
    commands: { 'mcp remove': { takes: ['name'], confirm: 'Remove the server and its approval?', example: 'web --yes' } },
  },
  /** Starts the server or uses the existing connection, and compares its tools with the approved ones. */
  'mcp.test': {
    params: named,
    result: view,
    about: 'start an MCP server and show its tools, and what changed since you approved it',
    forPerson: true,
    commands: { 'mcp test': { takes: ['name'], example: 'web' } },
  },
  /** Stops the server. Its approval remains, and the next call of one of its tools starts it again. */
  'mcp.stop': {
    params: named,
    result: view,
    about: 'disconnect an MCP server; it is started again when one of its tools is called',
    shows: 'Disconnected.',
    forPerson: true,
    commands: { 'mcp stop': { takes: ['name'], example: 'web' } },
  },
  /** `sha256` is the hash that `mcp.test` returned. */
  'mcp.approve': {
    params: named.extend({ sha256: sha256Schema }),
    result: view,
    about: 'approve an MCP server: the agent may ask for its tools, as `mcp test` showed them',
    forPerson: true,
    commands: {
      'mcp approve': {
        takes: ['name', 'sha256'],
        words: { sha256: 'the hash that `mcp test` shows' },
        example: 'web 27ba4764e2d8e1bd4e2a3c3f6e6c8fd5b1a7e4f7d3f2c6f0a9b8c7d6e5f4a3b2',
      },
    },
  },
  /** Adds the servers of another program's file. Plain secrets in it are moved to the keychain. Starts nothing. */
  'mcp.import': {
    params: z.strictObject({ path: z.string().min(1).max(4096) }),
    result: z.object({
      added: z.array(mcpServerViewSchema),
      skipped: z.array(z.object({ name: z.string(), reason: z.string() })),
      /** Names of the secrets that were stored in the keychain. */
      secrets: z.array(z.string()),
    }),
    about: 'add the MCP servers of another program: the mcp.json of Claude Desktop, VS Code or Cursor',
    forPerson: true,
    commands: { 'mcp import': { takes: ['path'], paths: ['path'], example: 'mcp.json' } },
  },
  'mcp.resources': {
    params: named,
    result: z.object({
      resources: z.array(z.object({ uri: z.string(), name: z.string(), description: z.string(), mediaType: z.string() })),
      templates: z.array(z.object({ uri: z.string(), name: z.string(), description: z.string() })),
    }),
    about: 'list the resources of an MCP server',
    forPerson: true,
    commands: { 'mcp resources': { takes: ['name'], example: 'web' } },
  },
  /** Stores the resource as artifacts, which a message can attach. */
  'mcp.resource': {
    params: named.extend({ uri: z.string().min(1).max(4000) }),
    result: z.object({ text: z.string(), artifacts: z.array(artifactRefSchema) }),
    about: 'read a resource of an MCP server and keep it as an artifact',
    forPerson: true,
    commands: { 'mcp read': { takes: ['name', 'uri'], example: 'web demo://notes/1' } },
  },
  'mcp.prompts': {
    params: named,
    result: z.object({
      prompts: z.array(
        z.object({
          name: z.string(),
          description: z.string(),
          arguments: z.array(z.object({ name: z.string(), description: z.string(), required: z.boolean() })),
        }),
      ),
    }),
    about: 'list the prompts of an MCP server',
    forPerson: true,
    commands: { 'mcp prompts': { takes: ['name'], example: 'web' } },
  },
  'mcp.prompt': {
    params: named.extend({ prompt: z.string().min(1).max(500), args: z.record(z.string(), z.string()).optional() }),
    result: z.object({ text: z.string() }),
    about: 'show the text of a prompt of an MCP server',
    forPerson: true,
    commands: {
      'mcp prompt': { takes: ['name', 'prompt', 'args?'], words: { args: 'its arguments as JSON' }, example: 'web review' },
    },
  },
  'mcp.answer': {
    params: z.strictObject({
      questionId: id,
      action: z.enum(['accept', 'decline', 'cancel']).default('accept'),
      /** Keyed by the fields of the question. */
      content: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).optional(),
    }),
    result: z.object({ questionId: z.string(), server: z.string() }),
    about: 'answer a question of an MCP server',
    commands: {
      'mcp answer': {
        takes: ['questionId', 'content?'],
        words: { content: 'the fields as JSON' },
        options: { action: 'what the answer is; accept when left out' },
        example: 'qst_01JD7Q --action decline',
      },
    },
  },
  /** Returns the address at which a person signs in; the answer returns to this machine. `wait` waits until the running sign-in is done. */
  'mcp.login': {
    params: named.extend({ wait: z.boolean().optional() }),
    result: z.object({ name: z.string(), url: z.string().nullable(), isSignedIn: z.boolean() }),
    about: 'sign in to an MCP server on the web; shows the address to open',
    forPerson: true,
    live: true,
    commands: { 'mcp login': { takes: ['name'], example: 'web' } },
  },
  'mcp.logout': {
    params: named,
    result: z.object({ name: z.string() }),
    about: 'forget the sign-in of an MCP server',
    forPerson: true,
    commands: { 'mcp logout': { takes: ['name'], example: 'web' } },
  },
});

export const mcpContract = {
  events: mcpEvents,
  ops: mcpOps,
  families: { mcp: 'MCP servers' },
  help: { mcp: ['Set up', 'servers of the Model Context Protocol, whose tools the agent may ask for'] },
} as const;
