// Everything known about a line besides whether it is plain: the class of its most serious effect, warnings, hosts, and files it would
// write. Checks every command of the line; can only raise the class.

import { isAbsolute, join } from 'node:path';
import { isBelow } from '../../base/inside-folder.ts';
import type { PathFact, ToolClass } from '../../contracts/tools.ts';
import { commandsOf, type LineCommand, type LineWord } from './line-commands.ts';
import type { CommandPlaces } from './protected-walk.ts';
import { codeOf } from './carried-lines.ts';
import { foreignProgram } from './foreign-program.ts';
import { riskRules, type Risk, type RiskRule } from './risk-table.ts';
import { asksForHelp, nameOf } from './program-names.ts';
import { writeTargets } from './write-targets.ts';

export interface LineLook {
  readonly class: ToolClass;
  /** Sentences, the most serious first. */
  readonly risks: readonly string[];
  readonly hosts: readonly string[];
  /** Paths the line names, as far as they are known. */
  readonly paths: readonly PathFact[];
  /** True if the line is useless when part of the machine is hidden. */
  readonly needsWholeMachine: boolean;
  /** True if the line runs code straight from the network. */
  readonly runsFetched: boolean;
  /** The effect as a headline; null if no serious effect is known. */
  readonly does: string | null;
  /** The rest of each risk that the headline says, by its sentence; empty if it says all of it. */
  readonly told: Readonly<Record<string, string>>;
  /** The program that may bring in text from outside this machine; null if every command of the line is known to be local. */
  readonly foreign: string | null;
}

/** A risk and its effect in this command, such as "deletes build and dist and everything inside". */
interface Found {
  readonly risk: Risk;
  readonly sentence: string;
  readonly deed: string;
  /** The part of the sentence that the deed does not say. */
  readonly rest: string;
}

const ranks: readonly Risk['class'][] = ['destructive', 'credential', 'network', 'exec'];
const PATHS_MAX = 100;
const RISKS_MAX = 12;
const HOSTS_MAX = 50;
const DEEDS_MAX = 3;
/** Each word may be a path, and each check reads the disk. */
const WORDS_MAX = 1000;
/** A write to one of these changes nothing. */
const nowhere = /^\/dev\/(?:null|zero|full|stdin|stdout|stderr|tty|fd\/\d+)$/;
const interpreters = /^(?:(?:ba|da|z|k|fi)?sh|python[\d.]*|node|perl|ruby|php|pwsh|powershell|iex|invoke-expression|source|\.)$/i;
const fetchers = /^(?:curl|wget|iwr|irm|invoke-webrequest|fetch|http|xh|nc|ncat)$/i;

/** A disk, or a part of one. */
const device = /^\/dev\/(?:r?disk|[hsvx]v?d[a-z]|nvme\d|mmcblk\d|md\d|dm-|mapper\/|loop\d|block\/)|^\\\\\.\\PhysicalDrive/i;
/** Functions of common languages that delete files or data. */
const deletingCode =
  /\b(?:rmtree|unlink(?:Sync)?|rmSync|rmdir(?:Sync)?|rm_rf?|removedirs|remove_(?:dir|file|entry|tree)\w*|os\.remove|fs\.rm|rimraf|Deno\.remove(?:Sync)?|(?:File|Directory|Dir)\.[dD]elete|FileUtils\.rm\w*|dropDatabase|deleteMany|drop\(\)|Remove-Item)\b|\bto delete\b/;

const connectingCode =
  /\bsocket\.|\burllib|\brequests\.|http\.client|\bfetch\(|Net::HTTP|IO::Socket|TCPSocket|fsockopen|\bcurl_exec|\/inet\/(?:tcp|udp)/;
/** Windows programs that run the content of an address. */
const loaders = /^(?:mshta|regsvr32|rundll32|msiexec|wscript|cscript)$/;

const isInterpreter = ({ words }: LineCommand): boolean => interpreters.test(nameOf(words[0]?.text ?? ''));
const isFetcher = ({ words }: LineCommand): boolean => fetchers.test(nameOf(words[0]?.text ?? ''));

const carriesCode: Risk = { class: 'network', sentence: 'It runs code straight from the network.' };
const hidesProgram: Risk = { class: 'exec', sentence: 'What it starts is only known when it runs.' };
const writesDevice: Risk = { class: 'destructive', sentence: 'It writes over whole disks.' };
const fillsMachine: Risk = { class: 'destructive', sentence: 'It starts programs without end until the machine stops.' };
const deletesByCode: Risk = { class: 'destructive', sentence: 'It runs code that deletes files.' };
const connectsByCode: Risk = { class: 'network', sentence: 'It talks to the network.' };
const opensSocket: Risk = { class: 'network', sentence: 'It opens a network connection through the shell.' };
const isTooMuch: Risk = { class: 'exec', sentence: 'Not all of it could be read in advance.' };
const readsKeys: Risk = { class: 'credential', sentence: 'It touches a protected place that holds your keys or settings.' };

/** `places` is null for a line that runs on another machine, where its paths have another meaning. */
export function lookAtLine(line: string, cwd: string, places: CommandPlaces | null): LineLook {
  const { commands, isWhole } = commandsOf(line);
  const paths = new Map<string, PathFact>();
  const found: Found[] = isWhole ? [] : [plainly(isTooMuch)];
  const hosts = new Set<string>();
  let wordsLeft = WORDS_MAX;
  for (const command of commands) {
    found.push(...risksOf(command));
    for (const host of hostsOf(command.words.map(({ text }) => text))) if (hosts.size < HOSTS_MAX) hosts.add(host);
    wordsLeft -= command.words.length;
    if (wordsLeft < 0) {
      found.push(plainly(isTooMuch));
      continue;
    }
    for (const fact of places === null || command.elsewhere ? [] : pathsOf(command, cwd, places)) {
      if (paths.size < PATHS_MAX) paths.set(`${fact.access} ${fact.given} ${fact.real}`, fact);
    }
  }
  found.push(...risksOfWhole(line, commands, [...paths.values()]));
  const sorted = found.sort((a, b) => gravity(a.risk) - gravity(b.risk));
  const risks = [...new Set(sorted.map(({ sentence }) => sentence))].slice(0, RISKS_MAX);
  const gravest = ranks.find((rank) => sorted.some(({ risk }) => risk.class === rank)) ?? 'exec';
  const runsFetched = sorted.some(({ risk }) => risk === carriesCode);
  const isGrave = runsFetched || gravest === 'destructive' || gravest === 'credential';
  const { does, told } = isGrave ? headlined(sorted) : { does: null, told: {} };
  const whole = isWhole && needsWholeMachine(commands);
  const foreign = foreignProgram({ commands, isWhole }, cwd);
  return {
    class: gravest,
    risks,
    hosts: [...hosts],
    paths: [...paths.values()],
    runsFetched,
    does,
    told,
    needsWholeMachine: whole,
    foreign,
  };
}

/** Finds risks that no single command of the line shows. */
function risksOfWhole(line: string, commands: readonly LineCommand[], paths: readonly PathFact[]): Found[] {
  const evaluates =
    /\b(?:iex|invoke-expression)\b/i.test(line) && /\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring)\b/i.test(line);
  const isBomb = /([\w:]+) ?\(\) ?\{[^}]*\1 ?\| ?\1 ?&/.test(line);
  const carries =
    evaluates || runsWhatItFetched(commands) || (line.includes('<(') && commands.some(isInterpreter) && commands.some(isFetcher));
  const reads = paths.some((fact) => fact.access === 'read' && fact.protectedBy !== null);
  return [...(isBomb ? [plainly(fillsMachine)] : []), ...(carries ? [plainly(carriesCode)] : []), ...(reads ? [plainly(readsKeys)] : [])];
}

/** Returns whether one command saves a file from the network and a later command runs that file. */
function runsWhatItFetched(commands: readonly LineCommand[]): boolean {
  const saved = new Set<string>();
  for (const command of commands) {
    const words = command.words.map(({ text }) => text);
    const [program = '', ...args] = words;
    const started = isInterpreter(command) ? (args.find((argument) => !argument.startsWith('-')) ?? '') : program;
    if (saved.has(started.replace(/^\.\//, ''))) return true;
    if (!isFetcher(command)) continue;
    const urls = args.filter((argument) => /:\/\/|^[\w.-]+\.[a-z]{2,}\//i.test(argument));
    const named = urls.map((url) => /\/([^/?#]+)(?:[?#].*)?$/.exec(url)?.[1] ?? '');
    const files = [...writeTargets(words), ...command.written.map(({ text }) => text), ...named];
    for (const file of files) if (file !== '' && file !== '-') saved.add(file.replace(/^\.\//, ''));
  }
  return false;
}

function plainly(risk: Risk): Found {
  return { risk, sentence: risk.sentence, deed: risk.sentence.replace(/^It /, '').replace(/\.$/, ''), rest: '' };
}

/** For example "Deletes build and dist and everything inside, and force-pushes to origin/main". */
function headlined(found: readonly Found[]): { does: string; told: Record<string, string> } {
  const deeds = [...new Set(found.filter(({ risk }) => risk !== isTooMuch).map(({ deed }) => deed))];
  const said = new Set(deeds.slice(0, DEEDS_MAX));
  const shown = [...said, ...(deeds.length > DEEDS_MAX ? ['more'] : [])];
  const last = shown.pop() ?? '';
  const text = shown.length === 0 ? last : `${shown.join(', ')}, and ${last}`;
  const untold = new Set(found.flatMap(({ deed, sentence }) => (said.has(deed) ? [] : [sentence])));
  const told = found.flatMap(({ sentence, rest }) => (rest === sentence || untold.has(sentence) ? [] : [[sentence, rest] as const]));
  return { does: text.charAt(0).toUpperCase() + text.slice(1), told: Object.fromEntries(told) };
}

/** The position in the risk table; lower is more serious. Risks found in other ways follow directly after the destructive ones. */
function gravity(risk: Risk): number {
  // This risk says the least, so it comes last.
  if (risk === hidesProgram) return riskRules.length;
  return gravities.get(risk) ?? firstNotDestructive - 0.5;
}

function risksOf(command: LineCommand): readonly Found[] {
  const [program = '', ...args] = command.words.map(({ text }) => text);
  const name = nameOf(program).toLowerCase();
  const others: readonly (readonly [Risk, boolean])[] = [
    [carriesCode, runsInput(command, name) || (loaders.test(name) && args.some((argument) => /https?:|\\\\/i.test(argument)))],
    [hidesProgram, command.isHidden],
    ...codeRisks(codeOf(name, args)),
    [writesDevice, writesToDevice(command, name)],
    [opensSocket, [...command.written, ...command.read].some(({ text }) => /^\/dev\/(?:tcp|udp)\//.test(text))],
  ];
  return [...listedRisk(name, args), ...others.flatMap(([risk, holds]) => (holds ? [plainly(risk)] : []))];
}

function listedRisk(name: string, args: readonly string[]): readonly Found[] {
  const listed = asksForHelp(args) ? undefined : rulesOf(name).find((rule) => rule.when === undefined || rule.when(args));
  if (listed === undefined) return [];
  const deed = listed.deed?.(args) ?? null;
  const place = listed.place === undefined ? '' : ` (${listed.place(args)})`;
  const sentence = listed.sentence.replace(/\.$/, `${place}.`);
  if (deed === null) return [{ ...plainly(listed), sentence, rest: place === '' ? '' : sentence }];
  return [{ risk: listed, sentence, deed, rest: listed.rest ?? sentence }];
}

/** Returns whether the command runs the output of a program that fetches, or the line is that program within an interpreter. */
function runsInput({ pipedFrom, wrappers }: LineCommand, name: string): boolean {
  const isFed = pipedFrom.some((before) => fetchers.test(nameOf(before)));
  const isCarried = wrappers.some((wrapper) => interpreters.test(nameOf(wrapper)) || wrapper === 'eval') && fetchers.test(name);
  return (isFed && interpreters.test(name)) || isCarried;
}

function codeRisks(code: string | null): readonly (readonly [Risk, boolean])[] {
  if (code === null) return [];
  return [
    [deletesByCode, deletingCode.test(code)],
    [connectsByCode, connectingCode.test(code)],
  ];
}

function writesToDevice({ words, written }: LineCommand, name: string): boolean {
  const targets = name === 'dd' ? [] : writeTargets(words.map(({ text }) => text));
  return [...written.map(({ text }) => text), ...targets].some((text) => device.test(text));
}

const gravities: ReadonlyMap<Risk, number> = new Map(riskRules.map((rule, index) => [rule, index]));
const firstNotDestructive = riskRules.findIndex((rule) => rule.class !== 'destructive');
const rulesByProgram = groupByProgram();

/** A pattern in place of a name matches any program it fits. */
function rulesOf(name: string): readonly RiskRule[] {
  if (!/[*?[]/.test(name)) return rulesByProgram.get(name) ?? rulesByProgram.get(name.replace(/^(mkfs|newfs|fsck)[._].*/, '$1')) ?? [];
  const letters = name.replace(/\[(!?)([\w-]+)\]|[*?]|\W/g, (part, not: string | undefined, set: string | undefined) => {
    if (set !== undefined) return `[${not === '!' ? '^' : ''}${set}]`;
    return part === '*' ? '.*' : part === '?' ? '.' : `\\${part}`;
  });
  const pattern = new RegExp(`^(?:${letters})$`);
  return riskRules.filter((rule) => rule.programs.some((program) => pattern.test(program)));
}

function groupByProgram(): ReadonlyMap<string, readonly RiskRule[]> {
  const groups = new Map<string, RiskRule[]>();
  for (const rule of riskRules) {
    for (const program of rule.programs) groups.set(program, [...(groups.get(program) ?? []), rule]);
  }
  return groups;
}

function pathsOf(command: LineCommand, cwd: string, places: CommandPlaces): readonly PathFact[] {
  const base = command.folders.reduce((folder, word) => goneInto(word, folder, places), cwd);
  const texts = command.words;
  const byText = new Map(texts.map((word) => [word.text, word]));
  const targets = writeTargets(texts.map(({ text }) => text)).map((text) => byText.get(text) ?? { text, isLiteral: true, isHome: false });
  const written = [...command.written, ...targets]
    .filter((word) => word.isLiteral && !nowhere.test(word.text) && !/^\/dev\/(?:tcp|udp)\//.test(word.text))
    .map((word) => factOf(word, base, 'write', places));
  const read = [...command.read, ...command.words.slice(1)]
    .filter((word) => !targets.includes(word) && word.isLiteral && word.text !== '' && mayNamePlace.test(word.text))
    .map((word) => factOf(word, base, 'read', places))
    .filter((fact) => isPersonalFile(fact, places));
  return [...written, ...read];
}

/** A short word that is neither a flag nor a pattern may be the name of a file. */
const mayNamePlace = /^[^-\s*?][^\s*?]{0,400}$/;

function factOf(word: LineWord, base: string, access: PathFact['access'], places: CommandPlaces): PathFact {
  const fact = places.fact(expanded(word, places), base, access);
  return { ...fact, given: word.text };
}

function expanded(word: LineWord, places: CommandPlaces): string {
  return word.isHome && (word.text === '~' || word.text.startsWith('~/')) ? places.userHome + word.text.slice(1) : word.text;
}

function goneInto(word: LineWord, folder: string, places: CommandPlaces): string {
  const target = expanded(word, places);
  return isAbsolute(target) ? target : join(folder, target);
}

/** Programs and libraries are also in protected places. Only a person's own files deserve a warning. */
function isPersonalFile(fact: PathFact, places: CommandPlaces): boolean {
  if (fact.protectedBy === null) return false;
  return [...places.opened, places.home, places.userHome].some((folder) => isBelow(fact.real, folder));
}

const urlHost = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@\s]*@)?(\[[0-9a-f:.]+\]|[^/:?#\s\\]+)/i;
const remotePath = /^(?:[\w.-]+@)?([A-Za-z0-9][\w.-]*):(?!\/\/)[^\\]/;
const hostName = /^(?:[\w.-]+@)?([A-Za-z0-9][A-Za-z0-9.-]*)(?::\d+)?(?:\/.*)?$/;
const webFetchers = new Set('curl wget http https xh aria2c'.split(' '));
const dialers = new Set('ssh sftp mosh telnet nc ncat netcat ping dig nslookup host traceroute whois ftp lftp'.split(' '));
const copiers = new Set('scp rsync git'.split(' '));
/** Flags of network programs whose value is the next word. */
const valued = /^-[bcDEeFIiLlmOopQRSWwXHdAuTKrx]$|^--(?:header|data|output|request|user|user-agent|form|upload-file|max-time|proxy)$/;
const COMMAND_HOSTS_MAX = 20;

/** Returns the hosts written in the words. The command may contact other hosts as well. */
function hostsOf(words: readonly string[]): readonly string[] {
  const program = nameOf(words[0] ?? '');
  const hosts = new Set<string>();
  for (const [index, word] of words.slice(1).entries()) {
    const named = urlHost.exec(word)?.[1] ?? (isOperand(words, index + 1) ? hostOfOperand(program, word) : undefined);
    if (named !== undefined && hosts.size < COMMAND_HOSTS_MAX) hosts.add(named.toLowerCase().replace(/^\[|\]$/g, ''));
    if (dialers.has(program) && hosts.size > 0) break;
  }
  return [...hosts];
}

function isOperand(words: readonly string[], index: number): boolean {
  return !(words[index] ?? '').startsWith('-') && !valued.test(words[index - 1] ?? '');
}

function hostOfOperand(program: string, word: string): string | undefined {
  if (copiers.has(program)) return remotePath.exec(word)?.[1];
  if (dialers.has(program)) return hostName.exec(word)?.[1];
  // These programs accept a host without a scheme if it contains a dot.
  return webFetchers.has(program) && /^[^/]+\.[^/]/.test(word) ? hostName.exec(word)?.[1] : undefined;
}

const otherRights = new Set(['sudo', 'doas', 'pkexec', 'su', 'runuser']);
const portTools = new Set(['lsof', 'fuser', 'ss', 'netstat']);
/** Programs that do not run the content of files. */
const companions = new Set([
  ...portTools,
  ...'kill pkill killall ps pgrep pidof grep head tail cut tr sort uniq wc xargs echo sleep true'.split(' '),
]);

/**
 * Returns whether the line needs the whole machine to be visible: it uses another user's rights, or looks up which process holds a port.
 * Recognized by program names alone. A port lookup together with any other program is an ordinary line.
 */
function needsWholeMachine(commands: readonly LineCommand[]): boolean {
  if (commands.some(({ wrappers }) => wrappers.some((name) => otherRights.has(name)))) return true;
  const names = commands.map(({ words }) => nameOf(words[0]?.text ?? ''));
  return (
    names.some((name) => otherRights.has(name)) ||
    (names.some((name) => portTools.has(name)) && names.every((name) => companions.has(name)))
  );
}
