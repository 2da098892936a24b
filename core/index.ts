// The library entry point: runs the runtime, and agents on it, in your own process. Exports the types of core/contracts and core/base.

import { versions } from 'node:process';
import { describeOldNode } from './base/node-floor.ts';
import { createTrayClaw as createRuntime } from './compose.ts';
import { AppError } from './contracts/errors.ts';
import type { TrayClaw, TrayClawOptions } from './contracts/library.ts';
import { ask, assertHome, assertKnownOptions, createAgent } from './doors/library/library.ts';
import { ownOptions } from './runtime-options.ts';

export type { Clock } from './base/clock.ts';
export type { Logger } from './base/logger.ts';
export type {
  Channel,
  ChannelInbound,
  ChannelLink,
  ChannelPort,
  ChannelReceipt,
  ChannelRules,
  ChatDesk,
  ChatService,
  OutboundItem,
  OutboundPart,
  SendOutcome,
} from './contracts/channels.ts';
export type { Claw, EventsQuery } from './contracts/claw.ts';
export type { ConfigInput } from './contracts/config.ts';
export type { ErrorCode } from './contracts/errors.ts';
export type { AnyEvent, DeltaNotice } from './contracts/events.ts';
export type { HookAnswer, HookSubject, LibraryHook } from './contracts/features/hooks.ts';
export type { HealthSource } from './contracts/health.ts';
export type {
  Agent,
  AgentArrival,
  AgentOptions,
  AgentSession,
  AgentSessionOptions,
  AgentUpdate,
  AskOptions,
  PendingApproval,
  ReceiveOptions,
  RunOptions,
  TrayClaw,
  TrayClawOptions,
} from './contracts/library.ts';
export type {
  ExtractedTurn,
  KeptMemory,
  KnowledgeResolver,
  MemoryExtractor,
  MemoryResolver,
  MemorySource,
  Proposal,
  RecalledText,
  RememberedText,
  ResolvedEvidence,
} from './contracts/memory-ports.ts';
export type { AskResult } from './contracts/op-results.ts';
export type { OwnPromptName } from './contracts/own-prompts.ts';
export type { Caller, OpName, OpParams, OpResult } from './contracts/ops.ts';
export type { PackSource } from './contracts/pack-source.ts';
export type { CallFacts, FactContext, ToolContext, ToolDefinition, ToolResult } from './contracts/tools.ts';
export { AppError } from './contracts/errors.ts';
export type {
  Plugin,
  PluginDatabase,
  PluginEvent,
  PluginMigration,
  PluginOperation,
  PluginParts,
  PluginSpine,
} from './contracts/plugin.ts';
export { defineFeature } from './contracts/plugin.ts';
export type { EvalCases } from './contracts/features/evals.ts';
export type { WorkedAttempt, WorkStrategy } from './contracts/work-strategy.ts';
export { createAgent } from './doors/library/library.ts';
export { defineTool } from './hands/tools/tools.ts';

/** Starts TrayClaw on a data folder. See `TrayClawOptions`; `config` has the same shape as config.yaml. */
export async function createTrayClaw(options: TrayClawOptions): Promise<TrayClaw> {
  const oldNode = describeOldNode(versions.node);
  if (oldNode !== null) throw new AppError('store_failed', oldNode, { hint: 'Install Node 22.19 or newer.' });
  assertKnownOptions('createTrayClaw', options, ownOptions);
  assertHome(options);
  const claw = await createRuntime(options);
  return {
    op: (name, params, caller) => claw.op(name, params, caller),
    events: (query) => {
      assertKnownOptions('events', query);
      return claw.events(query);
    },
    onDelta: (listener) => claw.onDelta(listener),
    operations: claw.operations,
    syncMeter: () => claw.syncMeter(),
    runningTurns: () => claw.runningTurns(),
    whenIdle: () => claw.whenIdle(),
    redact: (text) => claw.redact(text),
    sync: () => claw.sync(),
    notices: claw.notices,
    routes: claw.routes,
    close: () => claw.close(),
    ask: (text, askOptions) => ask(claw, text, askOptions ?? {}),
    call: async (operation, params) => (await claw.op('plugin.call', { operation, params: params ?? {} })).result,
    agent: (agent) => createAgent(claw, typeof agent === 'string' ? { agentId: agent } : agent),
  };
}
