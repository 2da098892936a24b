// Views of approvals, grants, unknown outcomes and the gate's decisions.

import * as z from 'zod';
import { revealed } from '../../../base/visible-text.ts';
import type { OpResult } from '../../../contracts/ops.ts';
import { parseGiven } from '../../../contracts/parse-given.ts';
import { grantMatchSchema, type Approval, type GrantListing } from '../../../contracts/policy.ts';
import type { WorkspaceState } from '../../../contracts/workspace-ops.ts';
import { describeApproval } from '../approval-prompt.ts';
import { describeChanges } from '../file-diff.ts';
import { parseJsonArgument, type CommandContext } from '../command-context.ts';
import { exitCodes } from '../exit-code.ts';
import { isInsideTool } from '../person-only.ts';
import { listed, tabled, type ViewsOf } from '../kernel/view.ts';
import { facts, table, when } from '../table.ts';

export const approvalViews: ViewsOf<'approval'> = {
  'approval.list': {
    json: ({ approvals }) => approvals,
    show: ({ approvals }, { paint }) =>
      approvals.map((one) => showApproval(one, (text) => paint('bold', text))).join('\n') || 'Nothing waits for approval.',
  },
  'approval.diff': {
    json: ({ files }) => files,
    show: ({ files }, { paint }) =>
      describeChanges(files, Infinity, paint) || 'The call waits no longer, or it changes no file that can be shown.',
  },
};

export const grantViews: ViewsOf<'grant'> = {
  'grant.list': listed(
    'grants',
    {
      GRANT: 'grantId',
      SCOPE: ({ scope }) => (scope.kind === 'minutes' ? `minutes:${scope.minutes}` : scope.kind),
      ENDS: endOf,
      USED: ({ uses }) => (uses === 0 ? 'never' : uses === 1 ? 'once' : `${uses} times`),
      LAST: 'lastUsedAtMs',
      COVERS: 'covers',
    },
    'No grants.',
  ),
  'grant.preview': {
    params: ({ match: given, ...others }) => ({
      match: parseGiven(grantMatchSchema, given, { says: 'The match is not valid', whole: 'it' }),
      ...others,
    }),
    show: ({ covered, asked, total, lookedBackToMs }) =>
      `${total} past calls would have been covered; ${asked} of them asked.${lookedBackToMs === null ? '' : ` Looked back to ${when(lookedBackToMs)}.`}\n` +
      tabled(covered, { CALL: 'callId', TOOL: 'tool', WHEN: 'atMs', WHAT: 'summary' }, ''),
  },
};

const requestSchema = z.strictObject({ tool: z.string().min(1), args: z.unknown(), cwd: z.string().optional() });

/** Explains the folder in which `ask` would work here. */
function hereWith<P extends object>({ io }: CommandContext, params: P): P & { readonly folder?: string } {
  return isInsideTool(io.env) ? params : { ...params, folder: io.cwd };
}

export const policyViews: ViewsOf<'policy'> = {
  'policy.explain': {
    params: (_, { given, context }) => {
      const request = parseJsonArgument(String(given['request']), 'The request');
      const { tool, args, cwd } = parseGiven(requestSchema, request, { says: 'The request is not valid {tool, args, cwd?}', whole: 'it' });
      return hereWith(context, { tool, args, ...(cwd === undefined ? {} : { cwd }) });
    },
    show: describeDecision,
  },
};

export const sandboxViews: ViewsOf<'sandbox'> = {
  'sandbox.explain': {
    params: (read, { context }) => hereWith(context, read),
    show: describeSandbox,
  },
};

export const safetyViews: ViewsOf<'safety'> = {
  'safety.url': {
    show: ({ decision, reason }, { paint }) => `${paint(decision === 'allow' ? 'green' : 'red', decision)}: ${reason}`,
    exitCode: ({ decision }) => (decision === 'allow' ? exitCodes.done : exitCodes.waiting),
  },
  'safety.redact': { show: ({ text }, { forStdout }) => forStdout(text) },
};

export const workspaceViews: ViewsOf<'workspace'> = {
  'workspace.list': {
    json: ({ workspaces }) => workspaces,
    show: ({ configured, workspaces }) =>
      table(
        ['FOLDER', 'STATE', 'LAST USED'],
        [
          [revealed(configured), states.configured, ''],
          ...workspaces.map(({ path, state, lastUsedAtMs }) => [
            revealed(path),
            states[state],
            lastUsedAtMs === null ? 'never' : when(lastUsedAtMs),
          ]),
        ],
        '',
      ),
  },
  'workspace.trust': { show: ({ path }) => `TrayClaw may work in ${revealed(path)}.` },
  'workspace.forget': { show: ({ path }) => `TrayClaw asks again before it works in ${revealed(path)}.` },
};

function describeDecision(result: OpResult<'policy.explain'>): string {
  return facts([
    ['Decision', result.decision],
    ['Rule', result.ruleId],
    ['Reason', result.reason],
    ['Mode', result.mode],
    ['Class', result.class],
    ...(result.facts.risks ?? []).map((risk) => ['Risk', risk] as const),
    ...result.facts.paths.map((path) => [path.access === 'write' ? 'Writes' : 'Reads', path.real] as const),
    ...(result.facts.command === null ? [] : [['Command', result.facts.command.line] as const]),
    ...result.facts.hosts.map((host) => ['Host', host] as const),
    ...(result.grantId === null ? [] : [['Grant', result.grantId] as const]),
    ...result.choices.map(({ covers }) => ['Could allow', covers] as const),
  ]);
}

function showApproval(approval: Approval, bold: (text: string) => string): string {
  return `${bold(approval.approvalId)}  ${approval.state}  ${when(approval.createdAtMs)}${describeApproval(approval, (_, text) => text)}\n`;
}

function endOf(grant: GrantListing): string {
  if (grant.revokedAtMs !== null) return `revoked ${when(grant.revokedAtMs)}`;
  if (grant.spentAtMs !== null) return `used up ${when(grant.spentAtMs)}`;
  if (grant.expiresAtMs !== null) return when(grant.expiresAtMs);
  if (grant.scope.kind === 'once') return 'with its call';
  return grant.scope.kind === 'session' ? `with ${grant.sessionId}` : 'when revoked';
}

function describeSandbox(result: OpResult<'sandbox.explain'>): string {
  const { mode, backend, available, command, files, network, environment, limits } = result;
  const several = (name: string, values: readonly string[], none: string): [string, string][] =>
    values.length === 0 ? [[name, none]] : values.map((value, index) => [index === 0 ? name : '', value]);
  const about = facts([
    ...(command === null ? [] : [['Would run', describePlace(command)] as const]),
    ['Mode', mode],
    ['Confined by', backend === null ? 'nothing: there is no backend for this system' : backend.how],
    ['Available', available ? 'yes' : mode === 'off' ? 'switched off' : 'no'],
    ...result.missing.flatMap(({ what, install }) => [['Missing', what] as const, ['', install] as const]),
    ...several('Writes', files.write, 'nothing'),
    ...several('Hidden', files.hidden, 'nothing'),
    ...several('Opened', files.read, 'nothing of what is hidden'),
    ...several('Denied', files.deny, 'nothing beyond what is protected'),
    ...several('Protected', files.protected, 'nothing'),
    ...several('Network', network.allowDomains, 'none'),
    ['Environment', [...environment, 'HOME', 'TMPDIR'].join(', ')],
  ]);
  const holds = (limit: (typeof limits)[number]): string => (limit.holds ? 'yes' : 'no');
  return `${about}\n\n${tabled(limits, { LIMIT: 'name', VALUE: 'value', HOLDS: holds, HOW: 'how' }, 'No limits.')}`;
}

function describePlace({ runs, reason }: NonNullable<OpResult<'sandbox.explain'>['command']>): string {
  const place = { inside: 'in the sandbox', outside: 'without a sandbox', refused: 'not at all' }[runs];
  return `${place}: ${reason}`;
}

const states: Readonly<Record<WorkspaceState, string>> = {
  trusted: 'trusted',
  replaced: 'replaced since: asks again',
  missing: 'not there',
  refused: 'cannot be a workspace',
  configured: 'the configured workspace',
  data: "TrayClaw's own data",
  new: 'not trusted',
};
