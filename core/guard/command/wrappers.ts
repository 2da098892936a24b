// Programs that run another program, and where that program begins in their arguments. Best effort.

import { isShell, nameOf } from './program-names.ts';

export interface LineWord {
  /** The text as far as it is known. Expansions are left as written. */
  readonly text: string;
  readonly isLiteral: boolean;
  /** True if the word begins with a `~` outside quotes. */
  readonly isHome: boolean;
}

interface Wrapper {
  /** Flags whose value is the next word. */
  readonly valued: string;
  /** The number of operands before the program it runs. */
  readonly operands?: number;
}

const wrappers: ReadonlyMap<string, Wrapper> = new Map([
  ['sudo', { valued: '-u -g -h -p -C -D -R -T -U --user --group' }],
  ['doas', { valued: '-u -C' }],
  ['env', { valued: '-u --unset -C --chdir' }],
  ['nice', { valued: '-n --adjustment' }],
  ['ionice', { valued: '-c -n' }],
  ['nohup', { valued: '' }],
  ['setsid', { valued: '' }],
  ['stdbuf', { valued: '-i -o -e' }],
  ['timeout', { valued: '-s -k --signal --kill-after', operands: 1 }],
  ['time', { valued: '-f -o' }],
  ['command', { valued: '' }],
  ['builtin', { valued: '' }],
  ['exec', { valued: '-a' }],
  ['xargs', { valued: '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --replace' }],
  ['parallel', { valued: '-j' }],
  ['watch', { valued: '-n --interval' }],
  ['flock', { valued: '-w -E', operands: 1 }],
  ['chroot', { valued: '', operands: 1 }],
  ['unshare', { valued: '' }],
  ['strace', { valued: '-e -o -p -s -u' }],
  ['busybox', { valued: '' }],
  ['toybox', { valued: '' }],
  ['npx', { valued: '-p --package' }],
  ['bunx', { valued: '' }],
  ['pnpx', { valued: '' }],
  ['chrt', { valued: '', operands: 1 }],
  ['taskset', { valued: '', operands: 1 }],
  ['nsenter', { valued: '-t --target -S -G' }],
  ['systemd-run', { valued: '-p -u --unit --property --slice -E --setenv' }],
  ['pkexec', { valued: '--user' }],
  ['runuser', { valued: '-u -g --user' }],
  ['setpriv', { valued: '--reuid --regid' }],
  ['ltrace', { valued: '-e -o -p -s -u' }],
  ['firejail', { valued: '' }],
  ['caffeinate', { valued: '-t -w' }],
  ['gtimeout', { valued: '-s -k', operands: 1 }],
  ['unbuffer', { valued: '' }],
  ['chronic', { valued: '' }],
  ['proxychains', { valued: '-f' }],
  ['torsocks', { valued: '' }],
  ['noglob', { valued: '' }],
  ['nocorrect', { valued: '' }],
]);

const assignment = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/** Returns the words, or the line of shell text, that a wrapper runs. Returns null if the program is not a wrapper. */
export function unwrap(words: readonly LineWord[]): { words?: readonly LineWord[]; line?: string } | null {
  const program = nameOf(words[0]?.text ?? '');
  const args = words.slice(1);
  if (isShell(program) || program === 'su') return shellText(args);
  if (program === 'eval') return { line: args.map(({ text }) => text).join(' ') };
  if (program === 'find') return findCommand(args);
  const split = program === 'env' ? args.findIndex(({ text }) => /^(?:-[^-]*S|--split-string)/.test(text)) : -1;
  if (split >= 0) return { line: args.slice(split).map(({ text }) => text.replace(/^(?:-[^-]*?S|--split-string=?)/, '')).join(' ') }; // prettier-ignore
  const wrapper = wrappers.get(program);
  if (wrapper === undefined) return null;
  const inner = behindFlags(args, wrapper);
  // `watch 'rm x'`: the whole line is one word.
  const [first] = inner;
  return program === 'watch' || (inner.length === 1 && first !== undefined && /\s/.test(first.text))
    ? { line: inner.map(({ text }) => text).join(' ') }
    : { words: inner };
}

/** `sh -c TEXT`, also with `-c` in a bundle of flags. */
function shellText(args: readonly LineWord[]): { line: string } | null {
  const at = args.findIndex(({ text }) => /^-[a-z]*c[a-z]*$/.test(text));
  const text = args.slice(at + 1).find((word) => !word.text.startsWith('-'));
  if (at < 0 || text === undefined) return null;
  const rest = args.slice(args.indexOf(text) + 1);
  // The shell text may refer to its own arguments ($0 "$1").
  return { line: text.text.replace(/\$\{?(\d)\}?/g, (_, index: string) => rest[Number(index)]?.text ?? '') };
}

function findCommand(args: readonly LineWord[]): { words: readonly LineWord[] } | null {
  const at = args.findIndex(({ text }) => /^-(?:exec|execdir|ok|okdir)$/.test(text));
  if (at < 0) return null;
  const rest = args.slice(at + 1);
  const end = rest.findIndex(({ text }) => text === ';' || text === '+' || text === '\\;');
  return { words: end < 0 ? rest : rest.slice(0, end) };
}

function behindFlags(args: readonly LineWord[], wrapper: Wrapper): readonly LineWord[] {
  const valued = new Set(wrapper.valued.split(' '));
  let at = 0;
  let operands = wrapper.operands ?? 0;
  for (; at < args.length; at++) {
    const text = args[at]?.text ?? '';
    if (text === '--') continue;
    if (text.startsWith('-') && text !== '-') {
      if (valued.has(text)) at += 1;
    } else if (!assignment.test(text)) {
      if (operands === 0) break;
      operands -= 1;
    }
  }
  return args.slice(at);
}
