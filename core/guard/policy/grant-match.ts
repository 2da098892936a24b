// What a grant covers, and the wider scope offered for a call. Pure; narrow by default.

import { hash } from 'node:crypto';
import { dirname, relative, sep } from 'node:path';
import { canonicalJson } from '../../base/json.ts';
import type { Grant, GrantMatch } from '../../contracts/policy.ts';
import type { CallFacts } from '../../contracts/tools.ts';

export interface GrantableCall {
  readonly tool: string;
  readonly argsHash: string;
  readonly facts: CallFacts;
  readonly workspace: string;
}

/** The match a wider grant for this call would have, and the same in words. */
export function suggestMatch(call: GrantableCall): { match: GrantMatch; covers: string } {
  const { facts, tool } = call;
  if (facts.command !== null) {
    return {
      match: { kind: 'command', tool, line: facts.command.line, cwd: facts.command.cwd },
      covers: `run exactly this command in ${showFolder(facts.command.cwd, call.workspace)}`,
    };
  }
  const written = facts.paths.filter((path) => path.access === 'write');
  if (facts.class === 'write' && written.length === 1 && written[0] !== undefined && written[0].insideWorkspace) {
    const folder = dirname(written[0].real);
    return { match: { kind: 'folder', tool, folder }, covers: `${tool} for files in ${showFolder(folder, call.workspace)}` };
  }
  return { match: exactMatch(call), covers: `${tool} with exactly these arguments` };
}

/** The same words may come to mean another thing: what they touched when a person said yes is part of it. */
export function exactMatch(call: GrantableCall): GrantMatch {
  return { kind: 'exact', tool: call.tool, argsHash: call.argsHash, factsHash: hashFacts(call.facts) };
}

function hashFacts(facts: CallFacts): string {
  return hash('sha256', canonicalJson(facts), 'hex');
}

export function matches(match: GrantMatch, call: GrantableCall): boolean {
  if (match.tool !== call.tool) return false;
  switch (match.kind) {
    case 'exact':
      return match.argsHash === call.argsHash && (match.factsHash === undefined || match.factsHash === hashFacts(call.facts));
    case 'command':
      return call.facts.command !== null && call.facts.command.line === match.line && call.facts.command.cwd === match.cwd;
    case 'family':
    case 'host':
      return false;
    case 'folder':
    case 'writes':
      return (
        call.facts.command === null &&
        call.facts.paths.length > 0 &&
        call.facts.paths.every((path) => path.insideWorkspace && isBelow(path.real, match.folder))
      );
  }
}

export function isLive(grant: Grant, nowMs: number): boolean {
  if (grant.revokedAtMs !== null || grant.spentAtMs !== null) return false;
  return grant.expiresAtMs === null || nowMs < grant.expiresAtMs;
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith('..' + sep) && !way.startsWith(sep);
}

function showFolder(folder: string, workspace: string): string {
  const way = relative(workspace, folder);
  if (way === '') return 'the workspace';
  return way.startsWith('..') ? folder : `${way}/`;
}
