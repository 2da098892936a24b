// Decides which calls a grant covers. Pure; anything unclear is not covered, and no grant covers a protected path.

import { hash } from 'node:crypto';
import { isOver } from '../../base/clock.ts';
import { canonicalJson } from '../../base/json.ts';
import type { Grant, GrantMatch } from '../../contracts/policy.ts';
import { needsOf, onlyChangesFiles, readsRepository, type CallFacts } from '../../contracts/tools.ts';
import { bindingsHash, callBindings } from './bindings.ts';
import { isBelow, isInside } from '../../base/inside-folder.ts';

export interface GrantableCall {
  readonly tool: string;
  readonly argsHash: string;
  readonly facts: CallFacts;
  readonly workspace: string;
  /** The hash of the command's bindings, computed once when many grants are checked for one call. */
  readonly boundTo?: string;
}

/** The same arguments may later refer to something else, so the match includes the facts at the time of the approval. */
export function exactMatch(call: GrantableCall): GrantMatch {
  return { kind: 'exact', tool: call.tool, argsHash: call.argsHash, factsHash: hashFacts(call.facts) };
}

/** Leaves out the picture, which only shows what the other facts say. */
function hashFacts({ picture: _shown, ...facts }: CallFacts): string {
  return hash('sha256', canonicalJson(facts), 'hex');
}

export function matches(match: GrantMatch, call: GrantableCall): boolean {
  return matchesWords(match, call) && isBoundTo(match, call);
}

/** Returns whether the grant would cover the call if the command's bindings had not changed since the grant was given. */
export function matchesButChanged(match: GrantMatch, call: GrantableCall): boolean {
  return isOfWords(match) && matchesWords(match, call) && !isBoundTo(match, call);
}

function matchesWords(match: GrantMatch, call: GrantableCall): boolean {
  const { facts } = call;
  if (match.kind !== 'writes' && match.tool !== call.tool) return false;
  if (facts.paths.some((path) => path.protectedBy !== null)) return false;
  switch (match.kind) {
    case 'exact':
      return matchesExactly(match, call);
    case 'command':
      // The same words typed into a running command do something else.
      return facts.input === undefined && facts.command?.line === match.line && facts.command.cwd === match.cwd;
    case 'family':
      return matchesNeeds(match.cwd, facts, (family) => sameWords(family, match.family));
    case 'git-reads':
      return matchesNeeds(match.cwd, facts, readsRepository);
    case 'host':
      return onlyFetches(facts, match.host);
    case 'folder':
    case 'writes':
      return writesBelow(facts, match.folder);
    case 'workspace':
      // Trust in a session's folder never allows a call.
      return false;
  }
}

function matchesExactly({ argsHash, factsHash }: Extract<GrantMatch, { kind: 'exact' }>, call: GrantableCall): boolean {
  return argsHash === call.argsHash && (factsHash === undefined || factsHash === hashFacts(call.facts));
}

/** Returns whether every part that needs a grant is covered, and the whole line touches only places it may read. */
function matchesNeeds(cwd: string, facts: CallFacts, isMeant: (family: readonly string[]) => boolean): boolean {
  const { command } = facts;
  const needs = command === null ? null : needsOf(command);
  if (needs === null || needs.length === 0 || command?.cwd !== cwd) return false;
  return (
    facts.class === 'exec' &&
    facts.hosts.length === 0 &&
    needs.every(({ family }) => isMeant(family)) &&
    facts.paths.every((path) => path.access === 'read' && (path.insideWorkspace || isInside(path.real, cwd)))
  );
}

/** Returns whether the grant allows a command by its words, bound to its recorded form. */
export function isOfWords(match: GrantMatch): match is Extract<GrantMatch, { kind: 'command' | 'family' | 'git-reads' }> {
  return match.kind === 'command' || match.kind === 'family' || match.kind === 'git-reads';
}

/** Returns whether the call fetches from one host. A call that uploads or stores a file does more. */
function onlyFetches(facts: CallFacts, host: string): boolean {
  const isRequest = facts.class === 'network' && facts.command === null && facts.paths.length === 0;
  return isRequest && facts.request?.reads === true && sameWords(facts.hosts, [host]);
}

/** A command may also read other files of the workspace. */
function writesBelow(facts: CallFacts, folder: string): boolean {
  const mayRead = facts.command !== null;
  return (
    onlyChangesFiles(facts) &&
    facts.paths.every((path) => path.insideWorkspace && ((mayRead && path.access === 'read') || isBelow(path.real, folder)))
  );
}

/** An old grant without recorded bindings does not cover a call that has bindings. */
function isBoundTo(match: GrantMatch, call: GrantableCall): boolean {
  const bindings = callBindings(call.facts);
  if (match.kind === 'exact') return match.factsHash !== undefined || bindings === null || bindings.length === 0;
  if (!isOfWords(match)) return true;
  if (match.bindingsHash === undefined) return bindings === null || bindings.length === 0;
  return bindings !== null && (call.boundTo ?? bindingsHash(bindings)) === match.bindingsHash;
}

export function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, at) => word === b[at]);
}

export function isLive(grant: Grant, nowMs: number): boolean {
  if (grant.revokedAtMs !== null || grant.spentAtMs !== null) return false;
  return !hasRunOut(grant, nowMs);
}

/** A clock that was set back to before the grant does not prolong it. */
export function hasRunOut({ createdAtMs, expiresAtMs }: Pick<Grant, 'createdAtMs' | 'expiresAtMs'>, nowMs: number): boolean {
  return expiresAtMs !== null && isOver({ fromMs: createdAtMs, untilMs: expiresAtMs }, nowMs);
}
