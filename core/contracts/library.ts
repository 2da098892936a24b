// The interface of the library: the options of the runtime, and agents as a host program uses them. Types only, built from contracts alone,
// so that users of the library depend on no internals.

import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Channel } from './channels.ts';
import type { HostedClaw } from './claw.ts';
import type { ConfigInput } from './config.ts';
import type { AnyEvent, DeltaNotice, TurnStatus } from './events.ts';
import type { LibraryHook } from './features/hooks.ts';
import type { KnowledgeResolver, MemoryExtractor, MemoryResolver, MemorySource } from './memory-ports.ts';
import type { AskResult } from './op-results.ts';
import type { Plugin } from './plugin.ts';
import type { OwnPromptName } from './own-prompts.ts';
import type { ToolDefinition } from './tools.ts';

export interface TrayClawOptions {
  /** The data folder. Created if missing; owned by one process at a time. */
  readonly home: string;
  /** Used instead of config.yaml, with the same shape. */
  readonly config?: ConfigInput;
  /** Additional tools, behind the same gate as the built-in ones. */
  readonly tools?: readonly ToolDefinition[];
  /** The host program's own features, each with tools, operations, settings, events and rows; see `defineFeature`. */
  readonly features?: readonly Plugin[];
  /** Additional channels, with the same rules and the same outbox as the built-in ones. */
  readonly channels?: readonly Channel[];
  /** Called before and after actions of the agent. They can only make the gate stricter. */
  readonly hooks?: readonly LibraryHook[];
  /** Finds facts worth remembering, instead of the built-in rules. Its proposals only become candidates. */
  readonly memoryExtractor?: MemoryExtractor;
  /** Detects contradictions, instead of the built-in rules. */
  readonly memoryResolver?: MemoryResolver;
  /**
   * External memories, which are recalled in addition to the built-in ones. Sources with `remember` also receive the memories that are
   * kept.
   */
  readonly memorySources?: readonly MemorySource[];
  /** Sources of knowledge that are queried when a question is asked. */
  readonly knowledgeResolvers?: readonly KnowledgeResolver[];
  /**
   * Texts that replace TrayClaw's own prompts. A prompt file in the data folder takes precedence. `trayclaw prompts list` shows the names.
   */
  readonly prompts?: Readonly<Partial<Record<OwnPromptName, string>>>;
  /** False leaves unfinished turns as they are, to inspect the data. */
  readonly resume?: boolean;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A call that waits for an approval. */
export type PendingApproval = NonNullable<AskResult['pending']>[number];

/** Undefined leaves the approval to others. */
type Decision = 'approve' | 'deny' | undefined;

export interface RunOptions {
  /** Aborting cancels the turn. */
  readonly signal?: AbortSignal;
}

export interface AskOptions extends RunOptions {
  readonly sessionId?: string;
  readonly agentId?: string;
  /** Called with the answer's text as it streams. */
  readonly onText?: (delta: string) => void;
}

export interface AgentOptions {
  /** One of the `agents` of config.yaml; defaults to the main agent. */
  readonly agentId?: string;
  /** The `provider/model` of the sessions that begin here, instead of the agent's own. */
  readonly model?: string;
  /** Answers approvals. Without it, or if it returns undefined, a run that needs an approval ends with the status `waiting`. */
  readonly onApproval?: (pending: PendingApproval) => Decision | Promise<Decision>;
}

/** The items of a stream: text as it is written (may be skipped), recorded events (never skipped), and once, at the end, the answer. */
export type AgentUpdate =
  | { readonly kind: DeltaNotice['kind']; readonly text: string; readonly callId: string | null }
  | { readonly kind: 'event'; readonly event: AnyEvent }
  | { readonly kind: 'answer'; readonly answer: AskResult };

/**
 * A turn that the host program did not start: the end of a turn, or an approval in a turn, that a schedule, a signal, a subagent's answer
 * or a chat began.
 */
export interface AgentArrival {
  readonly kind: 'answer' | 'question';
  /** Its position in the log. `receive({ after: seq })` continues from there in a later run of the program. */
  readonly seq: number;
  readonly sessionId: string;
  readonly turnId: string;
  readonly status: TurnStatus;
  readonly text: string;
  readonly pending: readonly PendingApproval[];
}

export interface ReceiveOptions {
  /** Starts after this position in the log; defaults to the current end. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

export interface AgentSessionOptions {
  /** An existing session; defaults to a new one. */
  readonly sessionId?: string;
}

/** The methods that agents and sessions share. */
export interface AgentTalk {
  /** Sends a message and waits until its turn ends, or needs an approval that `onApproval` does not answer (`status: 'waiting'`). */
  run(text: string, options?: RunOptions): Promise<AskResult>;
  /** Like `run`, step by step. Leaving the loop early does not stop the turn; abort the signal to end it. */
  stream(text: string, options?: RunOptions): AsyncIterable<AgentUpdate>;
  /** Yields what arrives outside the runs of this object, until the signal aborts or the runtime closes. */
  receive(options?: ReceiveOptions): AsyncIterable<AgentArrival>;
}

/** An agent of the runtime. Each `run` and `stream` uses a separate session. */
export interface Agent extends AgentTalk {
  readonly agentId: string;
  /** A persistent session: a new one, or an existing one. Fails with not_found, and with conflict for a session of another agent. */
  session(options?: AgentSessionOptions): Promise<AgentSession>;
}

export interface AgentSession extends AgentTalk {
  readonly sessionId: string;
}

export interface TrayClaw extends HostedClaw {
  /** Calls an operation of a plugin, such as `weather.report`. Fails with unknown_op, invalid_params, or the error of the plugin. */
  call(operation: string, params?: unknown): Promise<unknown>;
  /** Sends a message and waits until the turn ends or needs an approval (`status: 'waiting'`). */
  ask(text: string, options?: AskOptions): Promise<AskResult>;
  /** An agent by its id or with options; defaults to the main agent. */
  agent(options?: string | AgentOptions): Agent;
}
