// Finds the files a command would write, delete or move, as far as its words name them. Best effort: used for warnings and checkpoints,
// never to allow a command.

import { nameOf } from './program-names.ts';

/** These programs write every operand. */
const allOperands = new Set('rm rmdir unlink shred touch tee truncate mkdir mkfifo mv chmod chown chgrp chattr del erase srm'.split(' '));
/** These programs write the last operand, or the folder of `-t`. */
const lastOperand = new Set('cp install ln rsync scp'.split(' '));
const firstIsNoFile = new Set('chmod chown chgrp chattr'.split(' '));
const outputFlags: Readonly<Record<string, readonly string[]>> = {
  sort: ['-o', '--output'],
  curl: ['-o', '--output'],
  wget: ['-O', '--output-document'],
  tar: ['-f', '--file'],
  gcc: ['-o'],
  cc: ['-o'],
  tree: ['-o'],
  find: ['-fprint', '-fprintf', '-fls', '-fprint0'],
  git: ['--output', '-o'],
};
const TARGETS_MAX = 50;

/** Returns the targets of one command, as given. */
export function writeTargets(words: readonly string[]): readonly string[] {
  const [program = '', ...args] = words;
  const name = nameOf(program);
  return [...operandTargets(name, args), ...flagTargets(name, args)].filter((target) => target !== '').slice(0, TARGETS_MAX);
}

function operandTargets(name: string, args: readonly string[]): readonly string[] {
  if (name === 'dd') return args.filter((argument) => argument.startsWith('of=')).map((argument) => argument.slice(3));
  if ((name === 'sed' || name === 'perl' || name === 'ruby') && args.some((argument) => /^-[a-z]*i|^--in-place/.test(argument))) {
    return sedFiles(args);
  }
  const operands = operandsOf(args);
  if (allOperands.has(name)) return firstIsNoFile.has(name) ? operands.slice(1) : operands;
  if (!lastOperand.has(name)) return name === 'find' && args.includes('-delete') ? operands.slice(0, 1) : [];
  const folder = args.indexOf('-t');
  if (folder >= 0) return args.slice(folder + 1, folder + 2);
  return operands.length > 1 ? operands.slice(-1) : [];
}

function operandsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  const flagged = end < 0 ? args : args.slice(0, end);
  return [...flagged.filter((argument) => !argument.startsWith('-') || argument === '-'), ...(end < 0 ? [] : args.slice(end + 1))];
}

/** The first operand of sed is its script, unless a flag gave one. */
function sedFiles(args: readonly string[]): readonly string[] {
  const isScriptGiven = args.some((argument) => /^-[a-z]*e$|^--expression|^-f|^--file/.test(argument));
  const operands = operandsOf(args);
  return isScriptGiven ? operands : operands.slice(1);
}

function flagTargets(name: string, args: readonly string[]): readonly string[] {
  return (outputFlags[name] ?? []).flatMap((flag) =>
    args.flatMap((argument, index) => {
      if (argument === flag) return args.slice(index + 1, index + 2);
      if (flag.startsWith('--')) return argument.startsWith(`${flag}=`) ? [argument.slice(flag.length + 1)] : [];
      return flag.length === 2 && argument.startsWith(flag) && !argument.startsWith('--') ? [argument.slice(2)] : [];
    }),
  );
}
