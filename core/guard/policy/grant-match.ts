// What a grant covers. Pure; whatever is not plainly meant is not covered, and nothing here ever covers a protected path.

import { hash } from 'node:crypto';
import { canonicalJson } from '../../base/json.ts';
import type { Grant, GrantMatch } from '../../contracts/policy.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import { bindingsHash, bindingsOf } from './bindings.ts';
import { isBelow, isInside } from '../../base/inside-folder.ts';

export interface GrantableCall {
  readonly tool: string;
  readonly argsHash: string;
  readonly facts: CallFacts;
  readonly workspace: string;
  /** The hash of the command's bindings, where many grants are looked through for one call. */
  readonly boundTo?: string;
}

/** The same words may come to mean another thing: what they touched when a person said yes is part of it. */
export function exactMatch(call: GrantableCall): GrantMatch {
  return { kind: 'exact', tool: call.tool, argsHash: call.argsHash, factsHash: hashFacts(call.facts) };
}

function hashFacts(facts: CallFacts): string {
  return hash('sha256', canonicalJson(facts), 'hex');
}

export function matches(match: GrantMatch, call: GrantableCall): boolean {
  return matchesWords(match, call) && isBoundTo(match, call);
}

/** It would cover the call, were the things the command is made of still those of the day it was given. */
export function matchesButChanged(match: GrantMatch, call: GrantableCall): boolean {
  return (match.kind === 'command' || match.kind === 'family') && matchesWords(match, call) && !isBoundTo(match, call);
}

function matchesWords(match: GrantMatch, call: GrantableCall): boolean {
  const { facts } = call;
  if (match.kind !== 'writes' && match.tool !== call.tool) return false;
  if (facts.paths.some((path) => path.protectedBy !== null)) return false;
  switch (match.kind) {
    case 'exact':
      return match.argsHash === call.argsHash && (match.factsHash === undefined || match.factsHash === hashFacts(facts));
    case 'command':
      return facts.command?.line === match.line && facts.command.cwd === match.cwd;
    case 'family':
      return matchesFamily(match, facts);
    case 'host':
      return onlyFetches(facts, match.host);
    case 'folder':
    case 'writes':
      return writesBelow(facts, match.folder);
    case 'workspace':
      // Which folder a session works in is never what lets a call run.
      return false;
  }
}

function matchesFamily(match: Extract<GrantMatch, { kind: 'family' }>, facts: CallFacts): boolean {
  const family = facts.command?.plain?.family;
  if (family === undefined || family === null || facts.command?.cwd !== match.cwd) return false;
  return (
    facts.class === 'exec' &&
    facts.hosts.length === 0 &&
    sameWords(family, match.family) &&
    facts.paths.every((path) => path.access === 'read' && (path.insideWorkspace || isInside(path.real, match.cwd)))
  );
}

/** From one host; a file that is uploaded or kept would be more than that. */
function onlyFetches(facts: CallFacts, host: string): boolean {
  const isRequest = facts.class === 'network' && facts.command === null && facts.paths.length === 0;
  return isRequest && facts.request?.reads === true && sameWords(facts.hosts, [host]);
}

function writesBelow(facts: CallFacts, folder: string): boolean {
  return (
    facts.class === 'write' &&
    facts.command === null &&
    facts.hosts.length === 0 &&
    facts.paths.length > 0 &&
    facts.paths.every((path) => path.insideWorkspace && isBelow(path.real, folder))
  );
}

/** A grant of before that names no bindings covers nothing that has some. */
function isBoundTo(match: GrantMatch, call: GrantableCall): boolean {
  const bindings = bindingsOf(call.facts);
  if (match.kind === 'exact') return match.factsHash !== undefined || bindings === null || bindings.length === 0;
  if (match.kind !== 'command' && match.kind !== 'family') return true;
  if (match.bindingsHash === undefined) return bindings === null || bindings.length === 0;
  return bindings !== null && (call.boundTo ?? bindingsHash(bindings)) === match.bindingsHash;
}

export function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, at) => word === b[at]);
}

export function isLive(grant: Grant, nowMs: number): boolean {
  if (grant.revokedAtMs !== null || grant.spentAtMs !== null) return false;
  return grant.expiresAtMs === null || nowMs < grant.expiresAtMs;
}
