// Converts prompts, calls, approvals and sessions to the types of the Agent Client Protocol. Pure.

import type * as Acp from '@agentclientprotocol/sdk';
import { isPlainObject, parseJson, objectIn } from '../../../base/json.ts';
import { revealed } from '../../../base/visible-text.ts';
import type { Attachment } from '../../../contracts/attachments.ts';
import type { FileDiff } from '../../../contracts/checkpoints.ts';
import type { AgentListing } from '../../../contracts/agents.ts';
import { AppError } from '../../../contracts/errors.ts';
import type { EventBodies } from '../../../contracts/events.ts';
import type { McpQuestion } from '../../../contracts/features/mcp.ts';
import type { SessionInfo } from '../../../contracts/op-results.ts';
import type { OpParams, OpResult } from '../../../contracts/ops.ts';
import type { Approval, GrantScope } from '../../../contracts/policy.ts';
import type { QuickAnswer } from '../../../contracts/question-fields.ts';

const kindsByClass: Readonly<Record<string, Acp.ToolKind>> = {
  read: 'read',
  write: 'edit',
  destructive: 'delete',
  exec: 'execute',
  network: 'fetch',
};

export function toolKind(toolClass: string): Acp.ToolKind {
  return kindsByClass[toolClass] ?? 'other';
}

/** A tool and its target, taken from the argument that people recognise. */
export function callTitle(tool: string, args: string): string {
  const given = objectIn(args) ?? {};
  const target = ['path', 'command', 'url', 'query', 'expression'].map((key) => given[key]).find((value) => typeof value === 'string');
  return target === undefined ? tool : `${tool}: ${target.slice(0, 200)}`;
}

export interface Prompt {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** Files that an editor embeds become attachments, so that their content is not taken for the person's text. */
export function readPrompt(blocks: readonly Acp.ContentBlock[]): Prompt {
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const block of blocks) {
    if (block.type === 'text') texts.push(block.text);
    if (block.type === 'resource_link') texts.push(`${block.name}: ${block.uri}`);
    if (block.type === 'image')
      attachments.push({ name: `image-${attachments.length + 1}`, mediaType: block.mimeType, base64: block.data });
    if (block.type === 'resource') attachments.push(attached(block.resource));
  }
  return { text: texts.join('\n'), attachments };
}

type CommandListing = OpResult<'command.list'>['commands'][number];

/** An editor has its own list of sessions. */
const changesSession: ReadonlySet<string> = new Set(['session.create', 'session.search']);

export function commandsOf(commands: readonly CommandListing[]): Acp.AvailableCommand[] {
  const offered = commands.filter(({ op }) => !changesSession.has(op));
  return offered.map(({ name, about, usage }) => {
    const hint = usage.slice(`/${name} `.length);
    return { name, description: about, ...(hint === '' ? {} : { input: { hint } }) };
  });
}

function attached(resource: Acp.EmbeddedResource['resource']): Attachment {
  const name = (resource.uri.split('/').at(-1) ?? '').slice(-200) || 'resource';
  const mediaType = resource.mimeType === null || resource.mimeType === undefined ? {} : { mediaType: resource.mimeType };
  if ('text' in resource) return { name, ...mediaType, base64: Buffer.from(resource.text, 'utf8').toString('base64') };
  return { name, ...mediaType, base64: resource.blob };
}

/** The changed parts of a file with the lines around them, as the two sides of its unified diff. */
export function diffContent({ path, change, diff }: FileDiff): Acp.ToolCallContent[] {
  if (diff === null) return [];
  const sides = { old: '', now: '' };
  const lines = diff.split('\n');
  for (const [at, line] of lines.entries()) {
    // Only the first sign is the diff's: a changed line may itself begin with signs.
    const [sign] = line;
    if (sign === undefined || sign === '@' || sign === '\\') continue;
    const text = line.slice(1) + (lines[at + 1]?.startsWith('\\') === true ? '' : '\n');
    if (sign !== '+') sides.old += text;
    if (sign !== '-') sides.now += text;
  }
  return [{ type: 'diff', path, oldText: change === 'created' ? null : sides.old, newText: sides.now }];
}

const scopes: Readonly<Record<string, GrantScope>> = { once: { kind: 'once' }, session: { kind: 'session' }, always: { kind: 'always' } };

/** The arguments of a call for an editor; as text if they contain a character that would deceive. */
export function inputOf(args: string): unknown {
  const parsed = parseJson(args);
  return parsed.ok && revealed(args) === args ? parsed.value : revealed(args);
}

/** A call that is not shown in full can be denied here, and approved where all of it can be read. */
export function permissionOptions({ widerScope }: Approval, isWhole: boolean): Acp.PermissionOption[] {
  const deny: Acp.PermissionOption = { optionId: 'deny', name: 'Deny', kind: 'reject_once' };
  if (!isWhole) return [deny, { optionId: 'elsewhere', name: 'Decide in the window of TrayClaw', kind: 'reject_once' }];
  const wider: Acp.PermissionOption[] =
    widerScope === null
      ? []
      : [
          { optionId: 'session', name: 'Approve for this session', kind: 'allow_always' },
          { optionId: 'always', name: 'Approve until revoked', kind: 'allow_always' },
        ];
  return [{ optionId: 'once', name: 'Approve once', kind: 'allow_once' }, ...wider, deny];
}

/** Null for an option that was not offered. */
export function decisionOf(optionId: string): { readonly decision: 'approve' | 'deny'; readonly scope?: GrantScope } | null {
  if (optionId === 'deny') return { decision: 'deny' };
  const scope = Object.hasOwn(scopes, optionId) ? scopes[optionId] : undefined;
  return scope === undefined ? null : { decision: 'approve', scope };
}

/** Null if the editor does not support such a form. */
export function elicitationOf(
  { callId, server, message, questionId, schema, url }: McpQuestion,
  sessionId: string,
  forms: Acp.ElicitationCapabilities | null,
): Acp.CreateElicitationRequest | null {
  const about = { sessionId, toolCallId: callId, message: `${server}: ${message}` };
  if (url !== null) return forms?.url ? { ...about, mode: 'url', elicitationId: questionId, url } : null;
  return forms?.form ? { ...about, mode: 'form', requestedSchema: (schema ?? {}) as Acp.ElicitationSchema } : null;
}

/** Null for an answer that decides nothing. */
export function answerOf(answer: Acp.CreateElicitationResponse): Omit<OpParams<'mcp.answer'>, 'questionId'> | null {
  if (answer.action === 'decline') return { action: 'decline' };
  if (answer.action !== 'accept') return null;
  const { content } = answer as Acp.ElicitationAcceptAction;
  return { action: 'accept', ...(isPlainObject(content) ? { content } : {}) };
}

export function questionOptions(quick: readonly QuickAnswer[]): Acp.PermissionOption[] {
  return [
    ...quick.map(({ label }, at): Acp.PermissionOption => ({ optionId: String(at), name: label, kind: 'allow_once' })),
    { optionId: 'decline', name: 'Decline', kind: 'reject_once' },
  ];
}

/** Agents are the modes of a session. Each has its own tools, bounds and identity. */
export function modesOf(agents: readonly AgentListing[], currentModeId: string): Acp.SessionModeState {
  return {
    currentModeId,
    availableModes: agents.map(({ agentId, name, description }) => ({ id: agentId, name, ...(description === '' ? {} : { description }) })),
  };
}

export function sessionOf({ sessionId, title, updatedAtMs, workspace }: SessionInfo, configured: string): Acp.SessionInfo {
  return { sessionId, cwd: workspace ?? configured, title, updatedAt: new Date(updatedAtMs).toISOString() };
}

const endReasons: Readonly<Record<string, Acp.StopReason>> = {
  done: 'end_turn',
  cancelled: 'cancelled',
  stopped: 'cancelled',
  over_budget: 'max_turn_requests',
};
const limitReasons: Readonly<Record<string, Acp.StopReason>> = {
  step_limit: 'max_turn_requests',
  model_cut_off: 'max_tokens',
  model_context_overflow: 'max_tokens',
};

/** Fails with the turn's error if the protocol has no stop reason for it. */
export function stopReasonOf({ status, error }: EventBodies['turn.finished']): Acp.StopReason {
  const reason = endReasons[status] ?? limitReasons[error?.code ?? ''];
  if (reason !== undefined) return reason;
  const { code = 'internal', message = 'The turn failed.', hint } = error ?? {};
  throw new AppError(code, message, { hint });
}
