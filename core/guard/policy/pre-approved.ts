// Judges commands that policy.allowCommands or a rule allows by their words: which commands these cover, and whether a command still has
// the form of its first run. Pure over the grants created at first runs.

import { assert } from '../../base/assert.ts';
import { isInside } from '../../base/inside-folder.ts';
import { configApprovalId, type Grant, type GrantMatch } from '../../contracts/policy.ts';
import { bindingsOf, needsOf, readsRepository, type CallFacts, type CommandBinding, type CommandFact } from '../../contracts/tools.ts';
import { bindingsHash, changedBindings, namesOf } from './bindings.ts';
import { sameWords } from './grant-match.ts';
import { showFolder } from './shown-folder.ts';

export interface PreApproval {
  /**
   * free: nothing that could change determines its effect. first: never run before. bound: unchanged since the first run. written: the
   * agent wrote some of what it runs, and no person has approved that.
   */
  readonly state: 'free' | 'first' | 'bound' | 'changed' | 'written' | 'revoked';
  /** The grant of its first use, if the command is bound. */
  readonly grant: Grant | null;
  /** The grant that a first run would create. */
  readonly match: GrantMatch | null;
  readonly covers: string;
  /** Describes the changes of a changed command. */
  readonly changes: readonly string[];
}

/** Returns the words of a list entry without quotes. Returns null if the entry is more than words; it then matches nothing. */
export type EntryWords = (entry: string) => readonly string[] | null;

/** Returns whether the words are the family of a plain command, or all of its words if those describe it fully. */
export function isNamedBy({ plain, unclear }: CommandFact, words: readonly string[]): boolean {
  if (plain === undefined || unclear !== undefined) return false;
  return (plain.family !== null && sameWords(plain.family, words)) || (plain.sayable === true && sameWords(plain.argv, words));
}

/** A parsed list of allowed commands. An entry that is more than words allows nothing. */
export class AllowedCommands {
  readonly #entries: readonly (readonly string[])[];

  constructor(entries: readonly string[], wordsOf: EntryWords) {
    this.#entries = entries.map(wordsOf).filter((words) => words !== null);
  }

  covers(fact: CommandFact): boolean {
    if (fact.joined === undefined) return this.#entries.some((words) => isNamedBy(fact, words));
    const { needs } = fact.joined;
    return needs.length > 0 && needs.every(({ family }) => this.#entries.some((words) => sameWords(family, words)));
  }
}

/** Returns whether the command runs in an opened folder and everything it is known to touch is in the opened folders. */
export function staysInside(facts: CallFacts, opened: readonly string[]): boolean {
  const { command } = facts;
  if (command === null) return false;
  return (
    opened.some((folder) => isInside(command.cwd, folder)) && facts.paths.every((path) => path.insideWorkspace && path.protectedBy === null)
  );
}

/** When the agent wrote which files. */
export interface AgentWrites {
  writtenAtMs(path: string): number | null;
  lastWrittenAtMs(): number | null;
}

export interface KnownOfCommands {
  /** The grants of first uses, including revoked ones. */
  readonly grants: readonly Grant[];
  readonly workspace: string;
  /** The opened folders. */
  readonly roots: readonly string[];
  readonly writes: AgentWrites;
  /** Returns whether commands that run without an approval are sandboxed here. */
  readonly confines: () => boolean;
}

/** Judges a command that config.yaml allows by its words. */
export function judgePreApproval(tool: string, command: CommandFact, known: KnownOfCommands): PreApproval {
  const needs = needsOf(command);
  const within: Judging = { tool, command, known };
  if (needs !== null && needs.length > 0) return gravest(needs.map(({ family, bindings }) => judgeWords({ family, bindings }, within)));
  return judgeWords({ family: null, bindings: bindingsOf(command) ?? [] }, within);
}

interface Judging {
  readonly tool: string;
  readonly command: CommandFact;
  readonly known: KnownOfCommands;
}

interface Words {
  /** Null if only the whole line describes the command. */
  readonly family: readonly string[] | null;
  readonly bindings: readonly CommandBinding[];
}

function judgeWords({ family, bindings }: Words, { tool, command, known }: Judging): PreApproval {
  const { grants, workspace, roots } = known;
  const { line, cwd } = command;
  const covers = `\`${family === null ? line : family.join(' ')}\` in ${showFolder(cwd, workspace)}, as config.yaml says`;
  const none = { grant: null, match: null, covers, changes: [] };
  if (bindings.length === 0) return { ...none, state: 'free' };
  const bound = bindingsHash(bindings);
  const match: GrantMatch =
    family === null
      ? { kind: 'command', tool, line, cwd, bindingsHash: bound }
      : { kind: 'family', tool, family: [...family], cwd, bindingsHash: bound };
  const earlier = grants.filter((grant) => isOfSameWords(grant.match, match));
  const held = earlier.filter((grant) => grant.revokedAtMs === null);
  const same = held.find((grant) => hashOf(grant.match) === bound);
  if (same !== undefined) return withWritten({ ...none, match, state: 'bound', grant: same }, { family, bindings }, known);
  // In another folder, other files determine the effect, so a run there counts as a change. Exception: each opened folder is independent.
  const last = held.find((grant) => cwdOf(grant.match) === cwd) ?? (roots.includes(cwd) ? undefined : held[0]);
  if (last !== undefined)
    return { ...none, match, state: 'changed', grant: last, changes: changedBindings(last.bindings, bindings, workspace) };
  if (earlier.length > 0 && held.length === 0) return { ...none, match, state: 'revoked' };
  return withWritten({ ...none, match, state: 'first' }, { family, bindings }, known);
}

/** A command counts as written if the agent wrote files of its first form, or if it would run unconfined after the agent wrote any file. */
function withWritten(pre: PreApproval, { family, bindings }: Words, known: KnownOfCommands): PreApproval {
  const { writes, workspace } = known;
  const files = bindings.filter(({ kind }) => kind === 'script' || kind === 'config');
  const written = pre.state === 'first' ? files.filter(({ name }) => writes.writtenAtMs(name) !== null) : [];
  if (written.length > 0) return { ...pre, state: 'written', changes: namesOf(written, workspace) };
  // For git in a repository that runs no code, the bindings cover everything that matters.
  if (readsRepository(family) || known.confines()) return pre;
  const sinceMs = pre.grant?.createdAtMs ?? 0;
  return (writes.lastWrittenAtMs() ?? -1) >= sinceMs ? { ...pre, state: 'written', changes: [] } : pre;
}

const gravity: readonly PreApproval['state'][] = ['revoked', 'changed', 'written', 'first', 'bound', 'free'];

/** A line is judged by the worst of its parts. Only one grant can be recorded per call, so a line with two first runs is not allowed. */
function gravest(judged: readonly PreApproval[]): PreApproval {
  const [worst] = judged.toSorted((a, b) => gravity.indexOf(a.state) - gravity.indexOf(b.state));
  assert(worst !== undefined, 'a command is judged by its parts');
  const fresh = new Set(judged.flatMap(({ state, covers }) => (state === 'first' ? [covers] : [])));
  return worst.state === 'first' && fresh.size > 1 ? { ...worst, state: 'revoked' } : worst;
}

export function isOfConfig(grant: Grant): boolean {
  return grant.approvalId === configApprovalId;
}

function isOfSameWords(a: GrantMatch, b: GrantMatch): boolean {
  if (a.kind === 'command' && b.kind === 'command') return a.tool === b.tool && a.line === b.line;
  return a.kind === 'family' && b.kind === 'family' && a.tool === b.tool && sameWords(a.family, b.family);
}

function hashOf(match: GrantMatch): string | undefined {
  return match.kind === 'command' || match.kind === 'family' ? match.bindingsHash : undefined;
}

export function cwdOf(match: GrantMatch): string | undefined {
  return match.kind === 'command' || match.kind === 'family' ? match.cwd : undefined;
}
