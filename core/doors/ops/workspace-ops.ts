// The operations on the folders that sessions may use as their workspace. Only a person can trust a folder.

import { readdirSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Caller, OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { Grant } from '../../contracts/policy.ts';
import { folderOf } from '../../guard/workspace/workspace.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'clock' | 'gate' | 'log' | 'panic' | 'policy' | 'workspaces'>;

type Trusted = OpResult<'workspace.trust'>;

/** The `approvalId` of a grant that a person gave without being asked. */
const givenBefore = 'workspace';
const FOLDERS_MAX = 50;
const NAMES_LOOKED_AT = 2_000;

export function createWorkspaceOps(deps: Deps) {
  return {
    'workspace.list': () => ({ configured: deps.workspaces.configured, workspaces: list(deps) }),
    'workspace.look': ({ path, folders }) => ({
      ...deps.workspaces.look(path),
      ...(folders === true ? { folders: foldersBeginning(path) } : {}),
    }),
    'workspace.trust': (params) => trust(deps, params),
    'workspace.forget': (params, caller) => forget(deps, params, caller),
  } satisfies Partial<OpHandlers>;
}

function list(deps: Deps): Trusted[] {
  return deps.policy
    .trustedWorkspaces()
    .map((grant) => describe(deps, grant))
    .sort((a, b) => (b.lastUsedAtMs ?? b.trustedAtMs) - (a.lastUsedAtMs ?? a.trustedAtMs));
}

function describe(deps: Deps, grant: Grant): Trusted {
  const path = folderOf(grant);
  const [last] = deps.log.index.sessions({ archived: false, workspace: path, limit: 1 });
  return {
    path,
    grantId: grant.grantId,
    trustedAtMs: grant.createdAtMs,
    state: deps.workspaces.stateOf(grant),
    lastUsedAtMs: last?.updatedAtMs ?? null,
  };
}

/** Trusts the current folder, even if it replaced one that was trusted before. The older grant is revoked. */
function trust(deps: Deps, { path: given }: OpParsed<'workspace.trust'>): Trusted {
  if (deps.panic.engaged) throw new AppError('panic_engaged', 'Nothing can be approved while everything is stopped.');
  const path = deps.workspaces.choose(given);
  if (path === null) throw new AppError('conflict', `${given} is in the configured workspace, which needs no trust.`);
  const { opens } = deps.workspaces.opening(path);
  const old = deps.policy.trustedWorkspaces().filter((grant) => folderOf(grant) === path);
  const same = old.find(({ match }) => match.kind === 'workspace' && match.identity === opens.identity);
  if (same !== undefined) return describe(deps, same);
  const about = { sessionId: systemSessionId, approvalId: givenBefore, nowMs: deps.clock.nowMs() };
  const grant = deps.gate.trustFor(opens, about);
  const revoked = old.map(({ grantId }) => ({ type: 'grant.revoked' as const, body: { grantId, by: 'workspace.trust' } }));
  deps.log.append(systemSessionId, [...revoked, { type: 'grant.created', body: { grant } }], true);
  return describe(deps, grant);
}

function forget(deps: Deps, { path }: OpParsed<'workspace.forget'>, caller: Caller): OpResult<'workspace.forget'> {
  const { path: real, trustedBy } = deps.workspaces.look(path);
  const trusted = deps.policy.trustedWorkspaces().filter((grant) => folderOf(grant) === real || folderOf(grant) === path);
  if (trusted.length === 0) {
    const hint =
      trustedBy === null ? 'List the trusted ones with: trayclaw folders list' : `The trust in ${trustedBy} covers it: forget that one.`;
    throw new AppError('not_found', `${path} was not trusted itself.`, { hint });
  }
  deps.log.append(
    systemSessionId,
    trusted.map(({ grantId }) => ({ type: 'grant.revoked' as const, body: { grantId, by: caller.actor } })),
    true,
  );
  return { path: real, forgotten: trusted.length };
}

/** Completes a typed path with folder names. Hidden folders are included only if the name starts with a dot. */
function foldersBeginning(begun: string): string[] {
  if (!isAbsolute(begun)) return [];
  const folder = begun.endsWith('/') ? begun : dirname(begun);
  const start = begun.endsWith('/') ? '' : begun.slice(begun.lastIndexOf('/') + 1);
  try {
    return readdirSync(folder, { withFileTypes: true })
      .slice(0, NAMES_LOOKED_AT)
      .filter((entry) => entry.isDirectory() && entry.name.startsWith(start) && (start.startsWith('.') || !entry.name.startsWith('.')))
      .map((entry) => join(folder, entry.name))
      .sort()
      .slice(0, FOLDERS_MAX);
  } catch {
    // A missing or unreadable folder has no completions.
    return [];
  }
}
