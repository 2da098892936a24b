// The interface of the library: the options of the runtime, and agents as a program uses them. Types only, from contracts alone, so that
// users of the library depend on no internals.

import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Channel } from './channels.ts';
import type { HostedClaw } from './claw.ts';
import type { ConfigInput } from './config.ts';
import type { AnyEvent, DeltaNotice, TurnStatus } from './events.ts';
import type { LibraryHook } from './features/hooks.ts';
import type { KnowledgeResolver } from './knowledge-ports.ts';
import type { MemoryExtractor, MemoryResolver, MemorySource } from './memory-ports.ts';
import type { AskResult } from './op-results.ts';
import type { Plugin } from './plugin.ts';
import type { OwnPromptName } from './own-prompts.ts';
import type { ToolDefinition } from './tools.ts';

export interface TrayClawOptions {
  /** The data folder. Made when missing; owned by one process at a time. */
  readonly home: string;
  /** Used instead of config.yaml; the same shape. */
  readonly config?: ConfigInput;
  /** Further tools, behind the same gate as the built-in ones. */
  readonly tools?: readonly ToolDefinition[];
  /** Features of the program's own: tools, operations, settings, events and rows in one; see `defineFeature`. */
  readonly features?: readonly Plugin[];
  /** Further channels, behind the same rules and the same outbox as the built-in ones. */
  readonly channels?: readonly Channel[];
  /** Called before and after actions of the agent; can only make things stricter. */
  readonly hooks?: readonly LibraryHook[];
  /** Finds facts worth remembering, instead of the built-in rules. Its proposals only become candidates. */
  readonly memoryExtractor?: MemoryExtractor;
  /** Tells what contradicts what, in place of the built-in rules. */
  readonly memoryResolver?: MemoryResolver;
  /** External memories, recalled in addition to the built-in ones; sources with `remember` also receive what is kept. */
  readonly memorySources?: readonly MemorySource[];
  /** Sources of knowledge that answer at the time of the question. */
  readonly knowledgeResolvers?: readonly KnowledgeResolver[];
  /** Texts in place of TrayClaw's own prompts; a prompt file in the data folder beats them. `trayclaw prompts list` names them. */
  readonly prompts?: Readonly<Partial<Record<OwnPromptName, string>>>;
  /** False leaves unfinished turns as they are, to inspect the data. */
  readonly resume?: boolean;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A call that waits for an approval. */
export type PendingApproval = NonNullable<AskResult['pending']>[number];

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
  /** One of config.yaml's `agents`; the main one by default. */
  readonly agentId?: string;
  /** `provider/model` for the sessions begun here, in place of the agent's own. */
  readonly model?: string;
  /** Answers what has to be asked. Without it a run that needs an answer ends with the status `waiting`. */
  readonly onApproval?: (pending: PendingApproval) => 'approve' | 'deny' | Promise<'approve' | 'deny'>;
}

/** The items of a stream: text as it is written (it may skip), recorded events (never skipped), and once, at the end, the answer. */
export type AgentUpdate =
  | { readonly kind: DeltaNotice['kind']; readonly text: string; readonly callId: string | null }
  | { readonly kind: 'event'; readonly event: AnyEvent }
  | { readonly kind: 'answer'; readonly answer: AskResult };

/** A turn this program did not start: the end or the approval of a turn that a schedule, a signal, a subagent's answer or a chat began. */
export interface AgentArrival {
  readonly kind: 'answer' | 'question';
  /** Its position in the log; `receive({ after: seq })` continues from there in a later run of the program. */
  readonly seq: number;
  readonly sessionId: string;
  readonly turnId: string;
  readonly status: TurnStatus;
  readonly text: string;
  readonly pending: readonly PendingApproval[];
}

export interface ReceiveOptions {
  /** Starts after this position in the log; by default at the current end. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

export interface AgentSessionOptions {
  /** An existing conversation; a new one by default. */
  readonly sessionId?: string;
}

/** The methods that an agent and a conversation with it share. */
export interface AgentTalk {
  /** Sends a message and waits until its turn ends, or needs an approval that nothing here answers (`status: 'waiting'`). */
  run(text: string, options?: RunOptions): Promise<AskResult>;
  /** The same, step by step. Who leaves the loop early leaves the turn running; abort the signal to end the turn. */
  stream(text: string, options?: RunOptions): AsyncIterable<AgentUpdate>;
  /** Yields what arrives outside the runs of this object, until the signal aborts or the runtime closes. */
  receive(options?: ReceiveOptions): AsyncIterable<AgentArrival>;
}

/** An agent of the runtime. Each `run` and `stream` is a separate conversation. */
export interface Agent extends AgentTalk {
  readonly agentId: string;
  /** A persistent conversation: a new one, or an existing one. Fails with not_found, or conflict for another agent's. */
  session(options?: AgentSessionOptions): Promise<AgentSession>;
}

export interface AgentSession extends AgentTalk {
  readonly sessionId: string;
}

export interface TrayClaw extends HostedClaw {
  /** An operation of a feature, such as `weather.report`. Fails with unknown_op, invalid_params, or as the feature does. */
  call(operation: string, params?: unknown): Promise<unknown>;
  /** Sends a message and waits until the turn ends or needs an approval (`status: 'waiting'`). */
  ask(text: string, options?: AskOptions): Promise<AskResult>;
  /** An agent by its id or with options; the main one by default. */
  agent(options?: string | AgentOptions): Agent;
}
