// The dependencies of the operations, by name. Each group of handlers takes only the ones it needs: `Pick<OpsParts, 'log' | 'clock'>`.

import type { Caller, OpParsed } from '../../contracts/ops.ts';
import type { FactContext } from '../../contracts/tools.ts';
import type { AgentRegistry } from '../../agent/registry/registry.ts';
import type { ArtifactStore } from '../../store/artifact/artifact.ts';
import type { BudgetBook } from '../../guard/budget/budget.ts';
import type { PanicSwitch } from '../../guard/panic/panic.ts';
import type { SafetyChecks } from '../../guard/safety/safety.ts';
import type { Sandbox } from '../../guard/sandbox/sandbox.ts';
import type { Secrets } from '../../guard/secret/secret.ts';
import type { Workspaces } from '../../guard/workspace/workspace.ts';
import type { ModelRouter } from '../../mind/llm/llm.ts';
import type { Settings } from '../../runtime/settings/settings.ts';
import type { Compaction } from '../../runtime/compaction/compaction.ts';
import type { ChatRows, Outbox } from '../../runtime/outbox/outbox.ts';
import type { ProcessPort, TurnRuntime, TurnDeps } from '../../runtime/turns/turns.ts';
import type { Checkpoints } from '../../store/checkpoint/checkpoint.ts';
import type { ContinuityRows } from '../../store/continuity/continuity.ts';
import type { BackgroundCommands, ToolHost } from '../../hands/tools/tools.ts';
import type { LogHead } from '../../store/session/session.ts';

export interface OpsParts extends Pick<
  TurnDeps,
  'log' | 'clock' | 'ids' | 'logger' | 'gate' | 'policy' | 'packer' | 'packSources' | 'later'
> {
  readonly background: Pick<BackgroundCommands, 'list' | 'stop'>;
  readonly head: Pick<LogHead, 'secure'>;
  readonly turns: TurnRuntime;
  readonly agents: AgentRegistry;
  /** The sessions of the subagents of a session. */
  readonly helpers: { sessionsBelow(sessionId: string): readonly string[] };
  readonly budget: Pick<BudgetBook, 'states' | 'planMore' | 'extend' | 'reserve' | 'room'>;
  readonly panic: PanicSwitch;
  readonly continuity: ContinuityRows;
  readonly compaction: Pick<Compaction, 'compact'>;
  readonly processes: ProcessPort;
  readonly facts: FactContext;
  readonly workspaces: Workspaces;
  readonly controlplane: {
    retry(params: OpParsed<'turn.retry'>, caller: Caller): { sessionId: string; turnId: string };
    branch(turnId: string, text: string | null, caller: Caller): { sessionId: string; turnId: string };
    receive(params: OpParsed<'message.send'>, caller: Caller): ReturnType<TurnRuntime['accept']>;
    runTool(params: OpParsed<'tool.run'>, caller: Caller): { sessionId: string; turnId: string; callId: string };
  };
  readonly outbox: Pick<Outbox, 'list' | 'settle'>;
  readonly chats: Pick<ChatRows, 'chat' | 'chats'>;
  readonly tools: Pick<ToolHost, 'list' | 'shown' | 'schemas' | 'planSchemas' | 'get' | 'parse'>;
  readonly artifactStore: Pick<ArtifactStore, 'list' | 'readPage'>;
  readonly checkpoints: Checkpoints;
  /** Saved prompts that a message can insert. */
  readonly prompts: { list(): readonly { readonly name: string; readonly text: string }[] };
  readonly skills: { list(): readonly { readonly name: string; readonly description: string; readonly isOffered: boolean }[] };
  readonly models: Pick<
    ModelRouter,
    | 'cost'
    | 'info'
    | 'routes'
    | 'defaultChoice'
    | 'list'
    | 'presets'
    | 'probe'
    | 'survey'
    | 'lookAtServers'
    | 'assertKnown'
    | 'discover'
    | 'ready'
  >;
  readonly secrets: Pick<Secrets, 'set' | 'guard' | 'list' | 'delete' | 'status' | 'unlock'>;
  readonly sandbox: Pick<Sandbox, 'explain'>;
  readonly safety: Pick<SafetyChecks, 'url' | 'redact'>;
  readonly settings: Settings;
  /** Aborts when the instance closes. */
  readonly closing: AbortSignal;
}
