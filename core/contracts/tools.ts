// Tools: their definition, the facts of a call for the gate, and the form of a result.

import * as z from 'zod';
import type { PrivatePart } from './outsider.ts';

export const toolClasses = ['read', 'write', 'exec', 'network', 'message', 'spend', 'credential', 'hardware', 'destructive'] as const;
export const toolClassSchema = z.enum(toolClasses);
export type ToolClass = z.infer<typeof toolClassSchema>;

export const lostCallSchema = z.object({
  callId: z.string(),
  tool: z.string(),
  args: z.string(),
  reason: z.string(),
  /** The newest part of the output of the call; absent if none was kept. */
  output: z.string().optional(),
  /** The tool itself said so: the call has a result, its turn continues, and the call is not run again. */
  reported: z.literal(true).optional(),
});

/**
 * How to handle a crash in the middle of a call. pure: run it again. idempotent: run it again with the same key. unsafe: never run it again
 * automatically; a person says what happened.
 */
export const idempotencySchema = z.enum(['pure', 'idempotent', 'unsafe']);
export type Idempotency = z.infer<typeof idempotencySchema>;

/** The `protectedBy` of paths in TrayClaw's own data folder. No approval lifts this protection. */
export const ownDataProtection = "this is TrayClaw's own data";

export const pathFactSchema = z.object({
  /** The path as the call gave it. */
  given: z.string(),
  /** Absolute, with symbolic links resolved in every existing part. */
  real: z.string(),
  access: z.enum(['read', 'write']),
  insideWorkspace: z.boolean(),
  /** Why no grant ever covers this path; null if a grant can. */
  protectedBy: z.string().nullable(),
});
export type PathFact = z.infer<typeof pathFactSchema>;

/**
 * Something that determines what a command does when it runs. An approval covers its recorded content; changed content needs a new
 * approval.
 */
export const commandBindingSchema = z.object({
  /**
   * program: the file that is run. script: an operand that is code. config: settings that can make the command run code. environment:
   * inherited variables.
   */
  kind: z.enum(['program', 'script', 'config', 'environment']),
  /** Absolute real path, or the name of a variable. */
  name: z.string(),
  /** Hex hash of the content. Null if it is missing, so that its creation counts as a change. */
  sha256: z.string().nullable(),
});
export type CommandBinding = z.infer<typeof commandBindingSchema>;

/** A line that consists of one program with literal arguments. It is run as this list, without a shell. */
export const plainCommandSchema = z.object({
  argv: z.array(z.string()).min(1),
  /** Describes what it reads ("lists files"), if program and arguments are known to do nothing else; otherwise null. */
  reads: z.string().nullable(),
  /** Describes how it changes files ("copies files"), if it is known to change those among the paths of the call and to do nothing else. */
  writes: z.string().optional(),
  /** The words that name its effect (`git status`), if the rest is known not to change that; otherwise null. */
  family: z.array(z.string()).min(1).nullable(),
  /**
   * Whether all its words together fully describe its effect as far as that is known. Only then may a person's list name it word for word.
   */
  sayable: z.boolean().optional(),
  bindings: z.array(commandBindingSchema),
});
export type PlainCommand = z.infer<typeof plainCommandSchema>;

/**
 * A line of plain commands joined by `&&`, `||`, `;` or `|`, all of which but the last are known to only read, or all of which are known to
 * only read and change files. The shell runs it.
 */
export const joinedCommandSchema = z.object({
  /** Describes what its parts read, if all of them are known to do nothing else; otherwise null. */
  reads: z.string().nullable(),
  /** Describes how its parts change files, if they are known to change those among the paths of the call and to do nothing else. */
  writes: z.string().optional(),
  /** The parts that need a grant: the words that name each, and its bindings. */
  needs: z.array(plainCommandSchema.pick({ family: true, bindings: true }).extend({ family: z.array(z.string()).min(1) })),
  bindings: z.array(commandBindingSchema),
});
export type JoinedCommand = z.infer<typeof joinedCommandSchema>;

export const commandFactSchema = z.object({
  /** The exact line that runs. */
  line: z.string(),
  /** Real path of the folder in which it runs. */
  cwd: z.string(),
  /** Absent if the line is more than one command, or was not fully understood. */
  plain: plainCommandSchema.optional(),
  /** Present if the line consists of several plain commands that together are as safe as each alone. */
  joined: joinedCommandSchema.optional(),
  /** Why it is not plain, such as "it contains a command substitution". */
  unclear: z.string().optional(),
});
export type CommandFact = z.infer<typeof commandFactSchema>;

/** Describes what a command reads, if it is known to do nothing else; otherwise null. */
export function readsOf({ plain, joined }: CommandFact): string | null {
  return plain?.reads ?? joined?.reads ?? null;
}

/** Returns whether a call only changes the files among its paths, and reads others: a tool, or a command that is known to do no more. */
export function onlyChangesFiles({ class: kind, command, hosts, paths }: CallFacts): boolean {
  const isKnown = command === null ? kind === 'write' : kind === 'exec' && (command.plain ?? command.joined)?.writes !== undefined;
  return isKnown && hosts.length === 0 && paths.some(({ access }) => access === 'write');
}

/** Returns whether the words that name a command are those of git. Only git commands that read have such words. */
export function readsRepository(family: readonly string[] | null): boolean {
  return family?.[0] === 'git';
}

/** The values that determine what a command does; null if they are unknown. */
export function bindingsOf({ plain, joined }: CommandFact): readonly CommandBinding[] | null {
  return plain?.bindings ?? joined?.bindings ?? null;
}

/** The parts of a command that need a grant, each with the words that name it; null if it has no such words. */
export function needsOf({ plain, joined }: CommandFact): JoinedCommand['needs'] | null {
  if (joined !== undefined) return joined.needs;
  return plain === undefined || plain.family === null ? null : [{ family: plain.family, bindings: plain.bindings }];
}

/**
 * Like `readsOf`, but null for git: a repository may change after the check, and then git runs what its settings name. So git is confined
 * even if it only reads.
 */
export function readsAlone(fact: CommandFact): string | null {
  return needsOf(fact)?.some(({ family }) => readsRepository(family)) === true ? null : readsOf(fact);
}

export const callFactsSchema = z.object({
  class: toolClassSchema,
  paths: z.array(pathFactSchema),
  command: commandFactSchema.nullable(),
  hosts: z.array(z.string()),
  /** The risks that a person should know before approving, one sentence each, gravest first. */
  risks: z.array(z.string()).optional(),
  /** For a call that is one web request. `reads` means GET or HEAD without body and credentials, so that it only fetches. */
  request: z.object({ method: z.string(), url: z.string(), reads: z.boolean() }).optional(),
  /** The chat to which a message would go. `isOrigin` means that the turn came from that chat, and its answer goes there. */
  recipient: z.object({ channel: z.string(), chatId: z.string(), threadId: z.string().optional(), isOrigin: z.boolean() }).optional(),
  /** The session's own folder, if it does not work in the configured workspace. It is "the workspace" for this call. */
  workspace: z.string().optional(),
  /** The folder that a person is asked to trust as a workspace, and its current identity. */
  opens: z.object({ path: z.string(), identity: z.string() }).optional(),
  /** The running command that gets `command.line` as typed input. What it does depends on that command. */
  input: z.object({ id: z.string(), command: z.string() }).optional(),
  /** Hash of what a person approved of the MCP server and of the tool that the call runs. */
  approved: z.string().optional(),
  /** Why the gate denies the call in any case, as a sentence. */
  refused: z.string().optional(),
  /** How the call exceeds the declaration of the skill whose script it runs, as a sentence. No earlier grant covers such a call. */
  beyond: z.string().optional(),
  /** Which private data it shows to the outsider of its turn, as a sentence. Without that, the call may be free. */
  withheld: z.string().optional(),
  /** Whether it runs code directly from the network. */
  runsFetched: z.literal(true).optional(),
  /**
   * The texts of the arguments that determine what the call does, if other arguments do not, such as the position of an element on a page.
   * If absent, all arguments count.
   */
  decides: z.array(z.string()).optional(),
  /** Shows the person where the call acts: a stored picture, and the place on it. */
  picture: z
    .object({
      sha256: z.string(),
      name: z.string(),
      mediaType: z.string(),
      sizeBytes: z.number().int().nonnegative(),
      /** The size of the whole picture, in its own points. */
      width: z.number(),
      height: z.number(),
      mark: z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }),
    })
    .optional(),
  /**
   * Approving the call ends the restriction of the turn to reading, because it is the plan or one of its steps. No grant or rule can answer
   * for the person.
   */
  approvesPlan: z.literal(true).optional(),
  /**
   * The effect of a grave command, as a headline, such as "Deletes build and dist and everything inside, and force-pushes to origin/main".
   */
  does: z.string().optional(),
  /** The rest of each risk that the headline says, by its sentence; empty if it says all of it. */
  told: z.record(z.string(), z.string()).optional(),
});
export type CallFacts = z.infer<typeof callFactsSchema>;

export const artifactRefSchema = z.object({
  /** SHA-256 of the content, in hex. */
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
  /** Folders besides the workspace; real paths. */
  readonly folders: readonly string[];
  /** Programs that it may start; empty if it declares none. */
  readonly commands: readonly string[];
  /** Whether it declares the tool that runs commands, or no tools at all. */
  readonly runsCommands: boolean;
  /** The folder with the skill's files, which it may read. */
  readonly ownFolder: string;
  /** Hosts that its files name and its front matter does not. */
  readonly undeclaredHosts: readonly string[];
  /** Whether it declares anything. A skill that declares nothing is confined only where every command is. */
  readonly isDeclared: boolean;
}

/** The origin of untrusted content. Such content can request actions, but cannot approve them. */
export const taintSourceSchema = z.object({
  kind: z.enum(['web', 'file', 'mcp', 'message', 'command']),
  /** Host, real path, server or sender. */
  where: z.string(),
});
export type TaintSource = z.infer<typeof taintSourceSchema>;

/** The untrusted sources that a call may follow. */
export interface CallTaint {
  /** All untrusted sources of the session. */
  readonly session: readonly TaintSource[];
  /** The possible sources of the deciding arguments. Empty if they are the person's own, or older than any untrusted content. */
  readonly derived: readonly TaintSource[];
  /** True if the session has read private data. Only set for a session with untrusted content. */
  readonly sensitive: boolean;
}

export const noTaint: CallTaint = Object.freeze({ session: [], derived: [], sensitive: false });

/** The result of a tool. If `forUser` is null, the person sees `forModel`; `silent` means that the person is not notified. */
export interface ToolResult {
  readonly forModel: string;
  readonly forUser?: string | null;
  readonly silent?: boolean;
  readonly isError?: boolean;
  /** The work continues in the background. The result says how to follow it. */
  readonly isAsync?: boolean;
  /** Settles when that work has ended. */
  readonly ended?: Promise<unknown>;
  /** Replaces the outcome `error`: the tool stopped its own work, or cannot know whether its effect happened. */
  readonly endedBy?: 'timeout' | 'cancelled' | 'unknown';
  readonly artifacts?: readonly ArtifactRef[];
  /** Sources of the text in addition to those that the facts of the call show (hosts, paths outside the workspace). */
  readonly untrusted?: readonly TaintSource[];
  /** The origin of what the call brought in from outside this machine, and may have written into files. */
  readonly fetched?: TaintSource;
}

export interface SpawnRecord {
  readonly pid: number;
  /** The kernel's start time of the process. Together with the pid it identifies a process uniquely. Empty if unavailable. */
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
  /** The configured workspace, if the session works in another folder. It stays readable after an approval. */
  readonly configuredWorkspace?: string;
  /** TrayClaw's own data folder, which no tool may write. */
  readonly home: string;
  /** Additional folders that the person opened in the configuration. */
  readonly extraFolders: readonly string[];
  /** Real paths of the code that hooks, verifiers and MCP servers of config.yaml run. */
  readonly programFiles?: () => readonly string[];
  /** The session of the call; absent if only its facts are requested. */
  readonly sessionId?: string;
  readonly turnId?: string;
}

export interface ToolRedaction {
  redact(text: string): string;
  /** The position at which an incomplete known secret may begin at the end of the text; the text's length if there is none. */
  unfinishedAt(text: string): number;
}

export interface ToolContext extends FactContext {
  readonly callId: string;
  readonly sessionId: string;
  readonly turnId: string;
  /** Whether a person approved this call or gave the grant it runs on. Otherwise a rule alone allowed it. */
  readonly attended: boolean;
  /** The same when an idempotent call is run a second time. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** Environment variables that every child process must have, so that the panic stop finds it. */
  readonly processMarker: Readonly<Record<string, string>>;
  readonly artifacts: ArtifactSink;
  /** For tools that cut text, because half a secret is not recognized after the cut. Results are redacted in any case. */
  readonly redaction?: ToolRedaction;
  /** Live output for the person. Limited by the host, never recorded. */
  onOutput(chunk: string): void;
  /** Records a child process durably before it is relied on. */
  onSpawn(record: SpawnRecord): void;
  searchSessions(query: string, limit: number): readonly SearchHit[];
}

export interface VerifyResult {
  readonly ok: boolean;
  readonly detail: string;
}

/** How a call is shown in one line. Without it, the tool's name and the first argument are shown. */
export const toolShownSchema = z.object({
  /** A key of `verbs` in the window's texts (renderer/lib/i18n), which contain it in every tense. An unknown key is ignored. */
  verb: z.string(),
  /** The arguments that name the object of the call. The first one that is a text is shown. */
  target: z.array(z.string()),
});
export type ToolShown = z.infer<typeof toolShownSchema>;

/** A tool of the host. Its arguments are checked against `input` before any method receives them. */
export interface ToolDefinition<A = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<A>;
  /** The JSON schema of its arguments, if the tool was defined with one; otherwise derived from `input`. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly class: ToolClass;
  readonly shows?: ToolShown;
  idempotency(args: A): Idempotency;
  readonly timeoutMs?: number;
  /**
   * How long the tool's own result is awaited after an abort; 0 by default. For tools that then know how their work ended: the result is
   * recorded, even while the program closes.
   */
  readonly abortGraceMs?: number;
  /**
   * Its results are private although no path in its facts shows that: other sessions, memories, the person's documents. After a session has
   * seen such a result, more of its outgoing calls need approval. The turn of an outsider needs an approval for the call itself, or the
   * scope for that part. `sessions` needs neither: the host shows it only the sessions that the outsider began.
   */
  readonly isPrivate?: true | Exclude<PrivatePart, 'files'>;
  /** Only the program calls it, for a person. It is never listed, and calls by a model or a client are refused. */
  readonly isInternal?: true;
  /** One of many tools: a model sees it only after a search found it. It can always be called by its name. */
  readonly isSearched?: true;
  /** Offered only in turns that may only read until a plan is approved. */
  readonly isForPlans?: true;
  /** Describes what the call would touch. May read the file system, but must not change it. */
  facts(args: A, context: FactContext): CallFacts;
  /** One plain sentence without the subject, such as "write notes.md (1.2 kB)". */
  summarize(args: A): string;
  run(args: A, context: ToolContext): Promise<ToolResult>;
  /** The future content of a path that it writes, if that is known in advance. Read-only; null if the call would fail. */
  preview?(args: A, context: FactContext): Promise<{ readonly path: string; readonly after: string | Uint8Array } | null>;
  /** Checks afterwards that the call had its effect. */
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
