// Tests the analysis with very many lines and looks for one that runs without approval and should not: bash must read it the same way, and
// when run it must change nothing and show no secret.

import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { systemClock } from '../../core/base/clock.ts';
import { isInside } from '../../core/base/inside-folder.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { AppError } from '../../core/contracts/errors.ts';
import { onlyChangesFiles, readsOf, type CallFacts, type ToolContext, type ToolDefinition } from '../../core/contracts/tools.ts';
import { inputsOf, lineToRun, literalWords, readJoinedLine, type JoinedPart } from '../../core/guard/command/command.ts';
import { AllowedCommands } from '../../core/guard/policy/policy.ts';
import { noSandbox, silentWeb } from '../doubles/bare-tools.ts';
import { createBuiltInTools, createProcessTable, ProcessTrees, ToolHost } from '../../core/hands/tools/tools.ts';
import { observe } from './bash-oracle.ts';
import { has } from '../needs.ts';
import { makeLine, stubNames } from './command-lines.ts';
import { CommandTree, canary } from './command-tree.ts';
import { createRandom, type Random } from './random.ts';

export interface FuzzOptions {
  readonly lines: number;
  readonly seed: number;
  /** How many of the free and of the asked lines are compared with bash, and how many free ones are run. */
  readonly sample: number;
  /** How many asked lines are compared with bash, if fewer than `sample` are enough. */
  readonly askedSample?: number;
  /** Replaces the rules, to show what another judge allows. */
  readonly judge?: (facts: CallFacts, line: string) => boolean;
  /** False if allowed lines must not be run. */
  readonly runs?: boolean;
}

export interface FuzzReport {
  readonly lines: number;
  readonly distinct: number;
  readonly plain: number;
  readonly free: number;
  readonly comparedWithBash: number;
  readonly askedShownToBash: number;
  /** Asked lines that bash read as something other than one program, or that wrote a file. */
  readonly askedThatDidMore: number;
  readonly ran: number;
  /** Lines that are known to change files, and were run to see whether they change only those. */
  readonly ranWriting: number;
  readonly escapes: readonly string[];
}

export const corpusFile = new URL('../corpus/exec-commands.json', import.meta.url);
export const allowedByCorpus = ['git status', 'ls', 'npm test', 'grep', 'cat', 'head', 'tail', 'wc', 'sort', 'find', 'rg', 'echo'];
const allowed = [...allowedByCorpus, 'git diff', 'git log', 'git show', 'git branch', 'npm run build', 'make', 'sed', 'jq', 'stat', 'du'];
const corpusSchema = z.array(z.object({ cmd: z.string(), expect: z.enum(['ask', 'allow']), why: z.string() }));
/** These run instructions of the project, which this test does not examine. */
const runsProject = new Set(['npm', 'make']);

export function readCorpus(): z.infer<typeof corpusSchema> {
  return corpusSchema.parse(JSON.parse(readFileSync(corpusFile, 'utf8')));
}

/** Whether a line needs no approval: it only reads inside the workspace, or its name is on the list. */
export function isFree(facts: CallFacts, list: readonly string[] = allowed): boolean {
  const { command, paths } = facts;
  if (command === null || (command.plain ?? command.joined) === undefined) return false;
  if (paths.some((path) => !path.insideWorkspace || path.protectedBy !== null)) return false;
  return readsOf(command) !== null || new AllowedCommands(list, literalWords).covers(command);
}

/** Whether a line only changes files that are free to change in the mode `workspace-free`. */
function isFreeChange(facts: CallFacts): boolean {
  return onlyChangesFiles(facts) && facts.paths.every((path) => path.insideWorkspace && path.protectedBy === null);
}

export class CommandRig {
  readonly tree = new CommandTree();
  readonly trees: ProcessTrees;
  readonly host: ToolHost;
  readonly exec: ToolDefinition;
  readonly environment = { PATH: outsideOfProjects(process.env['PATH'] ?? ''), HOME: this.tree.root };
  readonly #marker = { TRAYCLAW_INSTANCE: `fuzz-${process.pid}` };
  #calls = 0;

  constructor() {
    const clock = systemClock;
    const logger = silentLogger;
    this.trees = new ProcessTrees({
      clock,
      logger,
      table: createProcessTable(process.platform),
      environment: process.env,
      instanceMarker: this.#marker,
    });
    const tools = createBuiltInTools({
      sandbox: noSandbox,
      web: silentWeb(),
      processTrees: this.trees,
      clock,
      environment: this.environment,
      platform: process.platform,
      userHome: this.tree.root,
      temporaryFolder: this.tree.root,
      execTimeoutMs: 20_000,
      outputBytesMax: 1_000_000,
      chats: null,
    });
    const exec = tools.find(({ name }) => name === 'exec');
    if (exec === undefined) throw new Error('there is no exec tool');
    this.exec = exec;
    this.host = new ToolHost({ tools, clock, logger, outputBytesMax: 1_000_000, artifacts: noArtifacts });
  }

  facts(command: string): CallFacts {
    return this.exec.facts({ action: 'run', command }, this.context());
  }

  /** Runs a command as the runtime does: determines the facts, then runs the same arguments. */
  async run(command: string): Promise<string> {
    const parsed = this.host.parse('exec', JSON.stringify({ command }));
    if (!parsed.ok) throw parsed.error;
    parsed.value.tool.facts(parsed.value.args, this.context());
    return (await this.host.run(parsed.value, this.context())).forModel;
  }

  context(): ToolContext {
    const callId = `call_${++this.#calls}`;
    return {
      workspace: this.tree.workspace,
      home: this.tree.home,
      extraFolders: [],
      callId,
      sessionId: 'ses_1',
      turnId: 'trn_1',
      attended: false,
      idempotencyKey: callId,
      signal: new AbortController().signal,
      processMarker: { TRAYCLAW_CALL: callId, ...this.#marker },
      artifacts: noArtifacts,
      onOutput: () => undefined,
      onSpawn: () => undefined,
      searchSessions: () => [],
    };
  }

  async dispose(): Promise<void> {
    await this.trees.killAll();
    this.tree.dispose();
  }
}

/** Removes folders of projects from PATH, because the machine may have a project's programs before the system's. */
function outsideOfProjects(path: string): string {
  return path.split(':').filter((entry) => !entry.includes('node_modules')).join(':'); // prettier-ignore
}

const noArtifacts: ToolContext['artifacts'] = {
  put: () => {
    throw new AppError('store_full', 'Nothing is kept here.');
  },
  read: () => {
    throw new AppError('artifact_missing', 'Nothing is kept here.');
  },
};

export async function fuzzCommands(options: FuzzOptions, rig: CommandRig): Promise<FuzzReport> {
  const random = createRandom(options.seed);
  const corpus = readCorpus().map(({ cmd }) => cmd);
  const seen = new Set<string>();
  const free: string[] = [];
  const asked: string[] = [];
  const writing: string[] = [];
  let plain = 0;
  for (let count = 0; count < options.lines; count++) {
    const line = makeLine(random, corpus);
    if (line === '' || seen.has(line)) continue;
    seen.add(line);
    const facts = rig.facts(line);
    if (facts.command?.plain !== undefined) plain += 1;
    if (isFreeChange(facts)) writing.push(line);
    ((options.judge ?? ((known) => isFree(known)))(facts, line) ? free : asked).push(line);
  }
  const compared = has('bubblewrap') ? sampleOf(free, options.sample, random) : [];
  const shown = has('bubblewrap') ? sampleOf(asked, options.askedSample ?? options.sample, random) : [];
  const escapes = compareWithBash(compared, rig);
  const askedThatDidMore = observe(shown, stubNames).filter(({ calls, created }) => calls.length > 1 || created.length > 0).length;
  const toRun = options.runs === false ? [] : sampleOf(free.filter((line) => !line.split(/[\s;&|]+/).some((word) => runsProject.has(word))), options.sample, random); // prettier-ignore
  const toWrite = options.runs === false ? [] : sampleOf(writing, options.sample, random);
  return {
    lines: options.lines,
    distinct: seen.size,
    plain,
    free: free.length,
    comparedWithBash: compared.length,
    askedShownToBash: shown.length,
    askedThatDidMore,
    ran: toRun.length,
    ranWriting: toWrite.length,
    escapes: [...escapes, ...(await runForReal(toRun, rig)), ...(await runWriting(toWrite))],
  };
}

function compareWithBash(lines: readonly string[], rig: CommandRig): string[] {
  // The analysed part of the line, without the folder it enters first and with its words as they are known here, because bash runs it in
  // another folder.
  const shown = lines.map((line) => {
    const { command } = rig.facts(line);
    if (command === null) return line;
    const rewritten = lineToRun(command.line, { cwd: command.cwd, environment: rig.environment });
    // A line of several commands that are all known runs as it is, also if it could be written as one.
    const isAsGiven = rewritten === null || (command.joined !== undefined && readJoinedLine(rewritten) === null);
    return isAsGiven ? command.line : rewritten;
  });
  const observed = observe(shown, stubNames);
  return lines.flatMap((line, index) => {
    const { calls = [], created = [] } = observed[index] ?? {};
    if (created.length > 0) return [`${JSON.stringify(line)} made ${created.join(', ')}`];
    const { joined, plain } = rig.facts(line).command ?? {};
    const parts = joined === undefined ? null : readJoinedLine(shown[index] ?? line);
    if (parts !== null) return differenceOfParts(line, parts, calls);
    if (calls.length === 1 && JSON.stringify(calls[0]) === JSON.stringify(plain?.argv)) return [];
    return [`${JSON.stringify(line)} is ${JSON.stringify(plain?.argv)} here and ${JSON.stringify(calls)} in bash`];
  });
}

/** Which parts run depends on how earlier parts end, and piped parts start in any order. Never more than the parts may run. */
function differenceOfParts(line: string, parts: readonly JoinedPart[], calls: readonly (readonly string[])[]): string[] {
  const known = new Set(parts.map(({ argv }) => JSON.stringify(argv)));
  // A command whose input file is missing in the oracle's folder does not run there.
  const mayRest = parts.some((part) => inputsOf(part).length > 0);
  const isKnown = (calls.length > 0 || mayRest) && calls.length <= parts.length && calls.every((call) => known.has(JSON.stringify(call)));
  return isKnown ? [] : [`${JSON.stringify(line)} is ${[...known].join(' ')} here and ${JSON.stringify(calls)} in bash`];
}

async function runForReal(lines: readonly string[], rig: CommandRig): Promise<string[]> {
  const escapes: string[] = [];
  let before = rig.tree.picture();
  for (const line of lines) {
    const output = await rig.run(line);
    if (output.includes(canary)) escapes.push(`${JSON.stringify(line)} showed a secret: ${output.slice(0, 200)}`);
    const after = rig.tree.picture();
    if (after !== before) escapes.push(`${JSON.stringify(line)} changed files`);
    before = after;
  }
  return escapes;
}

/** Runs the lines one after another in one separate tree. */
async function runWriting(lines: readonly string[]): Promise<string[]> {
  const rig = new CommandRig();
  const escapes: string[] = [];
  try {
    let before = rig.tree.entries();
    for (const line of lines) {
      const facts = rig.facts(line);
      // An earlier line may have changed a file that this one depends on.
      if (!isFreeChange(facts)) continue;
      const said = facts.paths.flatMap(({ access, real }) => (access === 'write' ? [real] : []));
      const output = await rig.run(line);
      if (output.includes(canary)) escapes.push(`${JSON.stringify(line)} showed a secret: ${output.slice(0, 200)}`);
      const after = rig.tree.entries();
      const differing = [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));
      const wrong = differing.filter((path) => !said.some((one) => isInside(one, path)));
      if (wrong.length > 0) escapes.push(`${JSON.stringify(line)} changed ${wrong.join(', ')}`);
      before = after;
    }
  } finally {
    await rig.dispose();
  }
  return escapes;
}

/** A sample that contains each line at most once. */
function sampleOf(lines: readonly string[], size: number, random: Random): readonly string[] {
  const left = [...lines];
  const picked: string[] = [];
  while (picked.length < size && left.length > 0) {
    const at = random.below(left.length);
    const line = left[at];
    const last = left.pop();
    if (line !== undefined) picked.push(line);
    if (last !== undefined && at < left.length) left[at] = last;
  }
  return picked;
}
