// Finds lines of shell text that a program runs because its flags, code or other operands say so: `tar --checkpoint-action=exec=…`, `git -c
// alias.x=!…`, `ssh host …`, `python -c "os.system('…')"`. Best effort: used for warnings, never to allow a command.

import { isInterpreter, nameOf } from './program-names.ts';

/** A line and where it runs. `elsewhere`: on another machine or in a container, where paths refer to other places. */
export interface Carried {
  readonly line: string;
  readonly elsewhere: boolean;
}

const here = (line: string): Carried => ({ line, elsewhere: false });
const CARRIED_MAX = 20;

/** Returns the lines that the words of one command carry. */
export function carriedLines([program = '', ...args]: readonly string[]): readonly Carried[] {
  const name = nameOf(program).toLowerCase();
  const found = (byProgram.get(name) ?? []).flatMap((flag) => valuesOf(args, flag)).map(here);
  const more = carriers.get(name)?.(args) ?? [];
  const code = codeOf(name, args);
  return [...found, ...more, ...(code === null ? [] : startedByCode(code).map(here))].slice(0, CARRIED_MAX);
}

/**
 * Returns the code in the arguments of a program that runs it (`python -c`, `awk`, `osascript -e`), or null if there is none. `name` has no
 * folder and is in lower case.
 */
export function codeOf(name: string, args: readonly string[]): string | null {
  if (/^(?:g|m|n)?awk$/.test(name)) return args.find((argument) => !argument.startsWith('-')) ?? null;
  if (!isInterpreter(name) && !/^(?:mongo|mongosh)$/.test(name)) return null;
  const at = args.findIndex((argument) => codeFlag.test(argument));
  if (at < 0) return name === 'deno' && args[0] === 'eval' ? (args.slice(1).find((argument) => !argument.startsWith('-')) ?? null) : null;
  const attached = /^--(?:eval|print|command|execute)=([^]*)/.exec(args[at] ?? '')?.[1];
  return attached ?? args.slice(at + 1).join('\n');
}

const codeFlag = /^-[A-Za-z]*[ceEpr]$|^--(?:eval|print|command|execute)(?:=|$)/;

interface Flag {
  /** The flag before the value, or the start of a word that contains both. */
  readonly flag: RegExp;
  /** True if the value is attached to the flag, in one argument. */
  readonly attached: boolean;
  readonly line?: (value: string) => string | null;
}

const next = (flag: RegExp, line?: Flag['line']): Flag => ({ flag, attached: false, ...(line === undefined ? {} : { line }) });
const same = (flag: RegExp, line?: Flag['line']): Flag => ({ flag, attached: true, ...(line === undefined ? {} : { line }) });

/** `!rm x` and `:!rm x` of an editor, `.shell rm x` and `\! rm x` of a database. */
const escaped = (value: string): string | null =>
  /(?:^|[\s;:])(?:!|\\!|\.(?:shell|system)\s|(?:shell|system)\s)\s*([^]+)/.exec(value)?.[1] ?? null;
const gitSetting = (value: string): string | null => {
  const [, key = '', text = ''] = /^([^=]+)=([^]*)$/.exec(value) ?? [];
  if (text.startsWith('!')) return text.slice(1);
  return /pager|editor|command|fsmonitor|external|textconv|driver|helper|proxy|program|\.(?:clean|smudge|process)$/i.test(key)
    ? text
    : null;
};
const sshSetting = (value: string): string | null =>
  /^\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand|RemoteCommand)\s*[= ]\s*([^]*)$/i.exec(value)?.[1] ?? null;

const sshFlags = [next(/^-o$/, sshSetting), same(/^-o/, sshSetting)];
const editorFlags = [next(/^(?:-c|--cmd|-S)$/, escaped), same(/^(?:\+|-c)/, escaped)];
const byProgram: ReadonlyMap<string, readonly Flag[]> = new Map(
  Object.entries({
    tar: [
      same(/^--checkpoint-action=exec=/),
      same(/^--(?:to-command|use-compress-program|info-script|new-volume-script|rmt-command|rsh-command)=/),
      next(/^-[A-Za-z]*[IF]$|^--(?:to-command|use-compress-program|info-script)$/),
    ],
    git: [
      next(/^(?:-c|--config-env)$/, gitSetting),
      same(/^--(?:upload-pack|receive-pack|exec|extcmd|open-files-in-pager|(?:tree|index|msg|commit|env|parent)-filter)=/),
      next(/^(?:-u|-x|--exec|--upload-pack|--receive-pack|--extcmd|--(?:tree|index|msg|commit|env|parent)-filter)$/),
    ],
    ssh: sshFlags,
    scp: [...sshFlags, next(/^-S$/)],
    sftp: [...sshFlags, next(/^-S$/)],
    rsync: [next(/^(?:-e|--rsh)$/), same(/^(?:--rsh=|--rsync-path=)/)],
    sort: [same(/^--compress-program=/), next(/^--compress-program$/)],
    split: [same(/^--filter=/), next(/^--filter$/)],
    zip: [next(/^(?:-TT|--unzip-command)$/)],
    man: [next(/^(?:-P|--pager)$/), same(/^(?:-P|--pager=)/)],
    rg: [next(/^--(?:pre|hostname-bin)$/), same(/^--(?:pre|hostname-bin)=/)],
    gdb: [next(/^(?:-ex|--ex|-eval-command|--eval-command|-iex)$/, escaped)],
    sqlite3: [next(/^-cmd$/, escaped), same(/^\./, (value) => escaped(`.${value}`))],
    psql: [next(/^(?:-c|--command)$/, escaped)],
    mysql: [next(/^(?:-e|--execute)$/, escaped)],
    script: [next(/^-[a-z]*c$|^--command$/), same(/^--command=/)],
    flock: [next(/^(?:-c|--command)$/)],
    runuser: [next(/^(?:-c|--command)$/)],
    make: [same(/^SHELL=/)],
    ...Object.fromEntries('vi vim nvi nvim ex view gvim rvim'.split(' ').map((editor) => [editor, editorFlags])),
  } satisfies Record<string, readonly Flag[]>),
);

function valuesOf(args: readonly string[], { flag, attached, line }: Flag): readonly string[] {
  return args.flatMap((argument, at) => {
    if (!flag.test(argument)) return [];
    const value = attached ? argument.replace(flag, '') : (args[at + 1] ?? '');
    const text = line === undefined ? value : line(value);
    return text === null || text === '' ? [] : [text];
  });
}

const valuedOfSsh = /^-[bcDEeFIiJLlmOopQRSWw]$/;
const valuedOfEngine =
  /^(?:-[eluvwp]|--(?:env|user|volume|workdir|name|network|publish|entrypoint|mount|label|env-file|platform|memory|cpus|gpus|add-host|hostname|detach-keys))$/;

/** Programs whose operands contain a command. */
const carriers: ReadonlyMap<string, (args: readonly string[]) => readonly Carried[]> = new Map(
  Object.entries({
    ssh: (args: readonly string[]) => elsewhere(behind(args, valuedOfSsh, 1)),
    docker: ofEngine,
    podman: ofEngine,
    nerdctl: ofEngine,
    'docker-compose': (args: readonly string[]) => ofEngine(['compose', ...args]),
    kubectl: (args: readonly string[]) => (args.includes('--') ? elsewhere(args.slice(args.indexOf('--') + 1)) : []),
    alias: (args: readonly string[]) => args.map((argument) => here(argument.replace(/^[^=]*=/, ''))),
    trap: (args: readonly string[]) => args.slice(0, 1).map(here),
    sed: (args: readonly string[]) => args.flatMap(ofSed).map(here),
    fd: ofFd,
    fdfind: ofFd,
    parallel: ofParallel,
    cmd: (args: readonly string[]) => afterFlag(args, /^\/[ck]$/i),
    powershell: ofPowerShell,
    pwsh: ofPowerShell,
    tmux: (args: readonly string[]) => args.filter((argument) => /\s/.test(argument)).map(here),
    screen: (args: readonly string[]) => afterFlag(args, /^-d?m$|^-dmS$|^-X$/),
  }),
);

function elsewhere(words: readonly string[]): readonly Carried[] {
  return words.length === 0 ? [] : [{ line: words.join(' '), elsewhere: true }];
}

function afterFlag(args: readonly string[], flag: RegExp): readonly Carried[] {
  const at = args.findIndex((argument) => flag.test(argument));
  return at < 0 || at + 1 >= args.length ? [] : [here(args.slice(at + 1).join(' '))];
}

/** Returns the arguments after the flags and the given number of operands. */
function behind(args: readonly string[], valued: RegExp, operands: number): readonly string[] {
  let left = operands;
  for (let at = 0; at < args.length; at++) {
    const argument = args[at] ?? '';
    if (argument === '--') continue;
    if (argument.startsWith('-')) at += valued.test(argument) ? 1 : 0;
    else if (left === 0) return args.slice(at);
    else left -= 1;
  }
  return [];
}

/** `docker exec NAME COMMAND`, `docker run IMAGE COMMAND`, and the same commands of compose. */
function ofEngine(args: readonly string[]): readonly Carried[] {
  const at = args.findIndex((argument) => argument === 'exec' || argument === 'run');
  if (at < 0) return [];
  return elsewhere(behind(args.slice(at + 1), valuedOfEngine, 1).map(quotedIfNeeded));
}

function ofFd(args: readonly string[]): readonly Carried[] {
  return afterFlag(args, /^(?:-[xX]|--exec(?:-batch)?)$/);
}

/** `parallel rm ::: a b`, `parallel 'rm {}' ::: a`. */
function ofParallel(args: readonly string[]): readonly Carried[] {
  const end = args.findIndex((argument) => /^:::+\+?$/.test(argument));
  return [here(behind(end < 0 ? args : args.slice(0, end), /^-[jNIS]$/, 0).join(' '))];
}

function ofPowerShell(args: readonly string[]): readonly Carried[] {
  const at = args.findIndex((argument) => /^[-/]e(?:c|n[codemant]*)?$/i.test(argument));
  const encoded = at < 0 ? undefined : args[at + 1];
  if (encoded !== undefined) return [here(Buffer.from(encoded, 'base64').toString('utf16le'))];
  return afterFlag(args, /^[-/]c(?:o[mand]*)?$/i);
}

/** `s/x/rm x/e` runs the result of the replacement, and the command `e` runs its text. */
function ofSed(argument: string): readonly string[] {
  const replaced = /(?:^|[;{\d$/])\s*s([^\w\s\\])(?:\\.|(?!\1).)*\1((?:\\.|(?!\1).)*)\1[gpiIm\d]*e/s.exec(argument)?.[2];
  const run = /(?:^|[;{\d$/])\s*e\s+([^\n]+)/.exec(argument)?.[1];
  return [replaced, run].filter((text) => text !== undefined);
}

const calls =
  /\b(?:os\.system|os\.popen|os\.exec\w*|os\.spawn\w*|system|popen|exec|execSync|execFile|execFileSync|spawn|spawnSync|shell_exec|passthru|proc_open|check_output|check_call|getoutput|subprocess\.(?:run|call|Popen)|Popen|shell script|qx)(?![A-Za-z])\s*\(?\s*\[?\s*/g;
const texts = /(["'`])((?:\\.|(?!\1).)*)\1/gs;

/** Finds the commands that code starts. If a call has a list of texts, they are joined. */
function startedByCode(code: string): readonly string[] {
  const found: string[] = [];
  for (const call of code.matchAll(calls)) {
    const rest = code.slice(call.index + call[0].length, call.index + call[0].length + 400);
    const given = /^["'`]/.test(rest) ? rest.slice(0, /[)\]};|]\s*(?:$|[,;)\n}])|\n/.exec(rest)?.index ?? rest.length) : '';
    const words = [...given.matchAll(texts)].map(([, , text = '']) => text);
    if (words.length > 0) found.push(words.join(' '));
  }
  // In awk and perl: `"rm x" | getline` and `print | "rm x"`. In perl, ruby and shells within code: backticks.
  for (const [, , piped = ''] of code.matchAll(/(["'])((?:\\.|(?!\1).)*)\1\s*\|&?\s*getline/g)) found.push(piped);
  for (const [, , piped = ''] of code.matchAll(/\|&?\s*(["'])((?:\\.|(?!\1).)*)\1/g)) found.push(piped);
  for (const [, ticked = ''] of code.matchAll(/`([^`]*)`/g)) found.push(ticked);
  return found;
}

function quotedIfNeeded(word: string): string {
  return /[\s"']/.test(word) ? `'${word.replaceAll("'", `'\\''`)}'` : word;
}
