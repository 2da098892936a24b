// Tools: their description, the facts of a call for the gate, and the forms of a result.

import * as z from 'zod';

export const toolClasses = ['read', 'write', 'exec', 'network', 'message', 'spend', 'credential', 'hardware', 'destructive'] as const;
export const toolClassSchema = z.enum(toolClasses);
export type ToolClass = z.infer<typeof toolClassSchema>;

export const lostCallSchema = z.object({
  callId: z.string(),
  tool: z.string(),
  args: z.string(),
  reason: z.string(),
  /** The newest part of the output of the call; missing if none was kept. */
  output: z.string().optional(),
});

/**
 * The handling of a crash in the middle of a call. pure: run it again. idempotent: run it again with the same key.
 * unsafe: never again on its own; a person says what happened.
 */
export const idempotencySchema = z.enum(['pure', 'idempotent', 'unsafe']);
export type Idempotency = z.infer<typeof idempotencySchema>;

/** `protectedBy` of a path in TrayClaw's own data folder: the one protection that no yes of a person lifts. */
export const ownDataProtection = "this is TrayClaw's own data";

export const pathFactSchema = z.object({
  /** The path as the call gave it. */
  given: z.string(),
  /** Absolute, with symbolic links of every existing part resolved. */
  real: z.string(),
  access: z.enum(['read', 'write']),
  insideWorkspace: z.boolean(),
  /** Why this path is never covered by a grant, or null. */
  protectedBy: z.string().nullable(),
});
export type PathFact = z.infer<typeof pathFactSchema>;

/** A thing that decides what a command does when it runs. An approval covers its recorded content; a changed content asks again. */
export const commandBindingSchema = z.object({
  /**
   * program: the file that is run. script: an operand that is code. config: settings that can make it run code. environment: inherited
   * variables.
   */
  kind: z.enum(['program', 'script', 'config', 'environment']),
  /** Absolute real path, or the name of a variable. */
  name: z.string(),
  /** Of the content, hex; null if missing, so that its creation counts as a change. */
  sha256: z.string().nullable(),
});
export type CommandBinding = z.infer<typeof commandBindingSchema>;

/** A line that is one program with literal arguments and nothing else. It is run as this list, with no shell in between. */
export const plainCommandSchema = z.object({
  argv: z.array(z.string()).min(1),
  /** Describes what it reads ("lists files"), if program and arguments are known to do nothing else; otherwise null. */
  reads: z.string().nullable(),
  /** The words that name what it does (`git status`), if the rest is known not to change that; otherwise null. */
  family: z.array(z.string()).min(1).nullable(),
  /** All its words together say what it does as far as can be told: only then may a person's list name it word for word. */
  sayable: z.boolean().optional(),
  bindings: z.array(commandBindingSchema),
});
export type PlainCommand = z.infer<typeof plainCommandSchema>;

/** A line of plain commands joined by `&&`, `||`, `;` or `|`, of which all but the last are known to only look. It is run by the shell. */
export const joinedCommandSchema = z.object({
  /** Describes what its parts read, if all of them are known to do nothing else; otherwise null. */
  reads: z.string().nullable(),
  /** The parts that need a permission: the words that name each, and its bindings. */
  needs: z.array(plainCommandSchema.pick({ family: true, bindings: true }).extend({ family: z.array(z.string()).min(1) })),
  bindings: z.array(commandBindingSchema),
});
export type JoinedCommand = z.infer<typeof joinedCommandSchema>;

export const commandFactSchema = z.object({
  /** Exactly what runs. */
  line: z.string(),
  /** Real path of the folder it runs in. */
  cwd: z.string(),
  /** Absent where the line is more than one command, or was not fully understood. */
  plain: plainCommandSchema.optional(),
  /** Present if the line is several plain commands that together are as safe as each. */
  joined: joinedCommandSchema.optional(),
  /** Why it is not plain: "it contains a command substitution". */
  unclear: z.string().optional(),
});
export type CommandFact = z.infer<typeof commandFactSchema>;

/** Describes what a command reads, if it is known to do nothing else; otherwise null. */
export function readsOf({ plain, joined }: CommandFact): string | null {
  return plain?.reads ?? joined?.reads ?? null;
}

/** The values that determine what a command does; null if nothing is known of it. */
export function bindingsOf({ plain, joined }: CommandFact): readonly CommandBinding[] | null {
  return plain?.bindings ?? joined?.bindings ?? null;
}

/** The parts of a command that need a permission, each by the words that name it; null if it has no such words. */
export function needsOf({ plain, joined }: CommandFact): JoinedCommand['needs'] | null {
  if (joined !== undefined) return joined.needs;
  return plain === undefined || plain.family === null ? null : [{ family: plain.family, bindings: plain.bindings }];
}

export const callFactsSchema = z.object({
  class: toolClassSchema,
  paths: z.array(pathFactSchema),
  command: commandFactSchema.nullable(),
  hosts: z.array(z.string()),
  /** The risks a person should know before approving, a sentence each, the gravest first. */
  risks: z.array(z.string()).optional(),
  /** For a call that is one web request. `reads`: GET or HEAD with no body and no credentials, so that it only fetches. */
  request: z.object({ method: z.string(), url: z.string(), reads: z.boolean() }).optional(),
  /** The chat a message would go to. `isOrigin`: the turn came from there, and its answer goes there. */
  recipient: z.object({ channel: z.string(), chatId: z.string(), threadId: z.string().optional(), isOrigin: z.boolean() }).optional(),
  /** The session's own folder, where it does not work in the configured workspace: what "the workspace" means for this call. */
  workspace: z.string().optional(),
  /** The folder a person is asked to trust as a workspace, and its current identity. */
  opens: z.object({ path: z.string(), identity: z.string() }).optional(),
  /** Why the gate denies it in any case, in a sentence. */
  refused: z.string().optional(),
  /** The call exceeds the declaration of the skill whose script it runs: how, in a sentence. No earlier permission covers it. */
  beyond: z.string().optional(),
  /** It runs code as it comes from the network. */
  runsFetched: z.literal(true).optional(),
  /**
   * The texts of the arguments that decide what the call does, where the others do not, such as the place of an element on a page. All count
   * where absent.
   */
  decides: z.array(z.string()).optional(),
  /** Shows the person where the call acts: a kept picture, and the place on it. */
  picture: z
    .object({
      sha256: z.string(),
      name: z.string(),
      mediaType: z.string(),
      sizeBytes: z.number().int().nonnegative(),
      /** Of the whole picture, in its own points. */
      width: z.number(),
      height: z.number(),
      mark: z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }),
    })
    .optional(),
  /** An approval of it ends what holds the turn to reading: it is the plan, or one of its steps. No grant and no rule answers for the person. */
  approvesPlan: z.literal(true).optional(),
  /** The effect of a grave command, as a headline: "Deletes build and dist and everything inside, and force-pushes to origin/main". */
  does: z.string().optional(),
});
export type CallFacts = z.infer<typeof callFactsSchema>;

export const artifactRefSchema = z.object({
  /** SHA-256 of the content, hex. */
  sha256: z.string(),
  name: z.string(),
  mediaType: z.string(),
  sizeBytes: z.number().int().nonnegative(),
});
export type ArtifactRef = z.infer<typeof artifactRefSchema>;

export const toolOutcomes = ['ok', 'error', 'denied', 'cancelled', 'timeout', 'skipped', 'unknown'] as const;
export const toolOutcomeSchema = z.enum(toolOutcomes);
export type ToolOutcome = z.infer<typeof toolOutcomeSchema>;

export interface ScriptBounds {
  readonly skill: string;
  readonly hosts: readonly string[];
  /** Besides the workspace; real paths. */
  readonly folders: readonly string[];
  /** Programs it may start; empty where it names none. */
  readonly commands: readonly string[];
  /** It declares the tool that runs commands, or no tools at all. */
  readonly runsCommands: boolean;
  /** Its own files, which it may read. */
  readonly ownFolder: string;
  /** Hosts that its files name and its head does not. */
  readonly undeclaredHosts: readonly string[];
  /** It declares something. What declares nothing is confined only where every command is. */
  readonly isDeclared: boolean;
}

/** Where untrusted content came from. It can request actions; it cannot approve them. */
export const taintSourceSchema = z.object({
  kind: z.enum(['web', 'file', 'mcp', 'message', 'command']),
  /** Host, real path, server or sender. */
  where: z.string(),
});
export type TaintSource = z.infer<typeof taintSourceSchema>;

/** The result of a tool. `forUser` null means the person sees `forModel`; silent means the person is not notified. */
export interface ToolResult {
  readonly forModel: string;
  readonly forUser?: string | null;
  readonly silent?: boolean;
  readonly isError?: boolean;
  /** The work continues in the background; the result says how to follow it. */
  readonly isAsync?: boolean;
  /** Settles when that work is over. */
  readonly ended?: Promise<unknown>;
  /** The outcome instead of `error`: the tool cut its own work short, or cannot know whether its effect happened. */
  readonly endedBy?: 'timeout' | 'cancelled' | 'unknown';
  readonly artifacts?: readonly ArtifactRef[];
  /** Sources of the text beyond those the facts of the call show (hosts, paths outside the workspace). */
  readonly untrusted?: readonly TaintSource[];
}

export interface SpawnRecord {
  readonly pid: number;
  /** The kernel's start time of the process; with the pid it identifies a process uniquely. Empty if unavailable. */
  readonly startTime: string;
}

export interface ArtifactSink {
  /** Stores content once by its hash. Fails with `store_full` or `store_failed`. */
  put(content: Uint8Array | string, about: { name: string; mediaType: string; callId?: string; sessionId?: string }): ArtifactRef;
  read(idOrAlias: string, range?: { offset: number; length: number }): Uint8Array;
}

export interface SearchHit {
  readonly sessionId: string;
  readonly seq: number;
  readonly atMs: number;
  readonly type: string;
  readonly excerpt: string;
}

export interface FactContext {
  /** Absolute real path of the workspace folder: the session's own, or the configured one. */
  readonly workspace: string;
  /** The configured workspace, where the session works in another folder: it stays readable after an approval. */
  readonly configuredWorkspace?: string;
  /** TrayClaw's own data folder, which no tool may write. */
  readonly home: string;
  /** Further folders the person opened in config. */
  readonly extraFolders: readonly string[];
  /** The session of the call; absent if only its facts are requested. */
  readonly sessionId?: string;
  readonly turnId?: string;
}

export interface ToolRedaction {
  redact(text: string): string;
  /** The position of a known secret that may begin at the end of the text; the text's length if there is none. */
  unfinishedAt(text: string): number;
}

export interface ToolContext extends FactContext {
  readonly callId: string;
  readonly sessionId: string;
  readonly turnId: string;
  /** A person approved this call, or gave the grant it runs on; otherwise a rule alone allowed it. */
  readonly attended: boolean;
  /** Present again, unchanged, when an idempotent call is run a second time. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** Environment marker every child process must carry, so that stop finds it. */
  readonly processMarker: Readonly<Record<string, string>>;
  readonly artifacts: ArtifactSink;
  /** For tools that cut text: half a secret is not recognised after the cut. Results are redacted in any case. */
  readonly redaction?: ToolRedaction;
  /** Live output for the person; bounded by the host, never recorded. */
  onOutput(chunk: string): void;
  /** Records a child process durably before it is relied on. */
  onSpawn(record: SpawnRecord): void;
  searchSessions(query: string, limit: number): readonly SearchHit[];
}

export interface VerifyResult {
  readonly ok: boolean;
  readonly detail: string;
}

/** How a call is shown in one line. A tool without it is shown by its name and its first argument. */
export const toolShownSchema = z.object({
  /** A key of `verbs` in the window's texts (renderer/lib/i18n), which have it in every tense; an unknown key is ignored. */
  verb: z.string(),
  /** The arguments that name its object; the first text among them is shown. */
  target: z.array(z.string()),
});
export type ToolShown = z.infer<typeof toolShownSchema>;

/** A tool of the host. Arguments are checked against `input` before any method sees them. */
export interface ToolDefinition<A = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<A>;
  /** The JSON schema of its arguments, where it was given as one; otherwise that of `input`. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly class: ToolClass;
  readonly shows?: ToolShown;
  idempotency(args: A): Idempotency;
  readonly timeoutMs?: number;
  /**
   * How long after an abort its own result is awaited; 0 by default. For tools that then know how their work ended: the result is recorded,
   * even while the program closes.
   */
  readonly abortGraceMs?: number;
  /**
   * Its results are private though no path of its facts says so: other conversations, memories, the person's documents. After a session has
   * seen one, more of what leaves it needs approval.
   */
  readonly isPrivate?: true;
  /** Only the program calls it, for a person. It is never listed, and a call by a model or a client is refused. */
  readonly isInternal?: true;
  /** One of many: a model sees it once a search found it. It can be called by its name in any case. */
  readonly isSearched?: true;
  /** Offered only in turns that only read until a plan is approved. */
  readonly isForPlans?: true;
  /** Describes what the call would touch. May read the file system, must not change it. */
  facts(args: A, context: FactContext): CallFacts;
  /** One plain sentence without the subject: "write notes.md (1.2 KB)". */
  summarize(args: A): string;
  run(args: A, context: ToolContext): Promise<ToolResult>;
  /** The future content of a path it writes, if that can be told beforehand. Read-only; null if the call would fail. */
  preview?(args: A, context: FactContext): Promise<{ readonly path: string; readonly after: string } | null>;
  /** Checks afterwards that the effect is there. */
  verify?(args: A, context: ToolContext): Promise<VerifyResult>;
}

export const toolListingSchema = z.object({
  name: z.string(),
  description: z.string(),
  class: toolClassSchema,
  schema: z.record(z.string(), z.unknown()),
});
export type ToolListing = z.infer<typeof toolListingSchema>;

export const toolRunResultSchema = z.object({
  callId: z.string(),
  outcome: z.union([toolOutcomeSchema, z.literal('waiting')]),
  forUser: z.string(),
  forModel: z.string(),
  artifacts: z.array(artifactRefSchema),
});
export type ToolRunResult = z.infer<typeof toolRunResultSchema>;
