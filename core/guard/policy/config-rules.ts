// Parses policy.rules of config.yaml once, and finds the first rule that matches a call. A rule that denies or asks applies if any part of
// the call matches; a rule that allows applies only if every part does. Does not know the built-in rules.

import { isAbsolute } from 'node:path';
import type { PolicyRule } from '../../contracts/config.ts';
import type { CallOrigin as AskedOrigin } from '../../contracts/policy.ts';
import type { CallFacts, ToolClass } from '../../contracts/tools.ts';
import { pathGlob } from './path-glob.ts';
import { sameWords } from './grant-match.ts';
import { isNamedBy, type EntryWords } from './pre-approved.ts';

export interface CallOrigin {
  readonly channel: string;
  readonly agentId: string;
  /** The caller of the agent, if it is a subagent. */
  readonly helper?: AskedOrigin['helper'];
}

export interface RuledCall {
  readonly tool: string;
  readonly facts: CallFacts;
  readonly origin: CallOrigin;
}

/** Parses a list of domains from config.yaml. */
export type DomainSets = (entries: readonly string[]) => { covers(host: string): boolean };

export interface MatchedRule {
  /** Counted from 1. */
  readonly number: number;
  readonly then: PolicyRule['then'];
  readonly reason: string | null;
  /** True if the rule allows a command by its words. Such a command is allowed only while it is as it was at its first run. */
  readonly allowsCommand: boolean;
  /** True if the rule itself says where the command may reach. */
  readonly allowsPaths: boolean;
}

export interface RuleReading {
  /** Absolute real path. */
  readonly workspace: string;
  readonly domains: DomainSets;
  readonly entryWords: EntryWords;
}

type Condition = (call: RuledCall) => boolean;

interface ReadyRule extends MatchedRule {
  readonly onCaller: readonly Condition[];
  readonly onArguments: readonly Condition[];
}

/** A tool as listed, independent of any call. */
export interface ListedTool {
  readonly name: string;
  readonly class: ToolClass;
}

export class ConfigRules {
  readonly #rules: readonly ReadyRule[];
  /** True if any rule denies a tool regardless of its arguments. */
  readonly refusesTools: boolean;

  constructor(rules: readonly PolicyRule[], reading: RuleReading) {
    this.#rules = rules.map((rule, at) => ({
      number: at + 1,
      then: rule.then,
      reason: rule.reason ?? null,
      allowsCommand: rule.then === 'allow' && rule.when.commands !== undefined,
      allowsPaths: rule.then === 'allow' && rule.when.paths !== undefined,
      onCaller: callerConditions(rule),
      onArguments: argumentConditions(rule, reading),
    }));
    this.refusesTools = this.#rules.some(({ then, onArguments }) => then === 'deny' && onArguments.length === 0);
  }

  firstFor(call: RuledCall): MatchedRule | null {
    if (this.#rules.length === 0) return null;
    return this.#rules.find(({ onCaller, onArguments }) => [...onCaller, ...onArguments].every((fits) => fits(call))) ?? null;
  }

  /**
   * Returns whether every call of the tool is denied by a rule, for any arguments. The class is the one the tool is listed with, as in the
   * bounds of a turn.
   */
  refusesAlways(tool: ListedTool, origin: CallOrigin): boolean {
    const call: RuledCall = { tool: tool.name, facts: { class: tool.class, paths: [], command: null, hosts: [] }, origin };
    const first = this.#rules.find(
      // A rule that denies only some of the calls leaves the others to the rules after it.
      ({ then, onCaller, onArguments }) => !(then === 'deny' && onArguments.length > 0) && onCaller.every((fits) => fits(call)),
    );
    return first?.then === 'deny';
  }
}

function callerConditions({ when, then }: PolicyRule): Condition[] {
  const { tools, classes, agents, channels } = when;
  const allows = then === 'allow';
  const conditions: Condition[] = [];
  if (tools !== undefined) conditions.push(({ tool }) => namesIt(tools, tool));
  if (classes !== undefined) conditions.push(({ facts }) => classes.includes(facts.class) || (!allows && isOfClass(classes, facts)));
  if (agents !== undefined) conditions.push(({ origin }) => namesIt(agents, origin.agentId));
  if (channels !== undefined) conditions.push(({ origin }) => namesIt(channels, origin.channel));
  return conditions;
}

function argumentConditions({ when, then }: PolicyRule, { workspace, domains, entryWords }: RuleReading): Condition[] {
  const { hosts, paths, commands } = when;
  const allows = then === 'allow';
  const conditions: Condition[] = [];
  if (hosts !== undefined) {
    const listed = domains(hosts);
    conditions.push(({ facts }) => holds(facts.hosts, (host) => listed.covers(host), allows));
  }
  if (paths !== undefined) {
    const globs = paths.map((path) => pathGlob(path, workspace, !allows));
    // In a session's own folder, a relative path also denies and asks. It allows only in the configured workspace.
    const moved = allows ? [] : paths.filter((path) => !isAbsolute(path));
    conditions.push(({ facts }) => {
      const own = facts.workspace === undefined ? [] : moved.map((path) => pathGlob(path, facts.workspace ?? workspace, true));
      return holds(facts.paths, ({ real }) => [...globs, ...own].some((matches) => matches(real)), allows);
    });
  }
  if (commands !== undefined) {
    conditions.push(allows ? saysAll(commands, entryWords) : hasAny(commands));
  }
  // The facts of a command contain only the known files and hosts, so paths or hosts alone cannot allow it.
  if (allows && commands === undefined && (hosts !== undefined || paths !== undefined))
    conditions.push(({ facts }) => facts.command === null);
  return conditions;
}

function holds<T>(parts: readonly T[], fits: (part: T) => boolean, all: boolean): boolean {
  return parts.length > 0 && (all ? parts.every(fits) : parts.some(fits));
}

/** A command always counts as exec, even if its line has a graver class. A call that names hosts counts as network. */
function isOfClass(classes: readonly string[], facts: CallFacts): boolean {
  return (facts.command !== null && classes.includes('exec')) || (facts.hosts.length > 0 && classes.includes('network'));
}

/** Whether one of the names, or of the beginnings that end with `*`, is that of `name`. */
export function namesIt(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}

/** Matches only words with a known meaning: the family, its first words, or the whole command word for word. */
function saysAll(commands: readonly string[], entryWords: EntryWords): Condition {
  const lines = commands.map(entryWords).filter((words) => words !== null);
  return ({ facts: { command } }) => {
    const family = command?.plain?.family ?? [];
    return lines.some((words) => command !== null && (isNamedBy(command, words) || sameWords(family.slice(0, words.length), words)));
  };
}

function hasAny(commands: readonly string[]): Condition {
  const lines = commands.map((text) => text.split(/\s+/));
  return ({ facts }) => lines.some((words) => hasWords(words, facts));
}

/** Also matches in the middle of a line that was not understood: denying and asking may be too cautious, but never too lenient. */
function hasWords(words: readonly string[], facts: CallFacts): boolean {
  const { command } = facts;
  if (command === null) return false;
  const [program = ''] = command.plain?.argv ?? [];
  if (command.plain !== undefined && !starters.test(nameOf(program))) return startsWith(command.plain.argv, words);
  const all = command.line.split(/[\s;&|(){}<>`"'$]+/);
  return all.some((_, at) => startsWith(all.slice(at, at + words.length + SKIPPED_MAX), words));
}

/** Programs that start another, which a rule may name. */
const starters =
  /^(?:sudo|doas|env|nice|ionice|nohup|setsid|stdbuf|timeout|time|command|exec|xargs|parallel|watch|flock|chroot|busybox|find|[a-z]*sh)$/;
const SKIPPED_MAX = 20;

/** Skips flags and their values before a word: `git push` is also `git -C sub push`. */
function startsWith(argv: readonly string[], [program, ...words]: readonly string[]): boolean {
  let at = 0;
  if (program === undefined || (argv[0] !== program && nameOf(argv[0] ?? '') !== program)) return false;
  return words.every((word) => {
    do at += 1;
    while (argv[at] !== word && [argv[at], argv[at - 1]].some((one) => one?.startsWith('-') === true));
    return argv[at] === word;
  });
}

const nameOf = (program: string): string => program.replace(/^.*[\\/]/, '');
