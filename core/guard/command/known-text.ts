// Determines the text of a word from the line alone: variables it sets, defaults, and the output of echo and printf, also in base64. Best
// effort: used for warnings, never to allow a command.

import type { CommandNode, ParameterExpansionPart, PipelineNode, ParsedScript, Word, WordPart } from 'unbash';

export type Variables = ReadonlyMap<string, string>;

const DEPTH_MAX = 4;

/** Returns null if any part is unknown. */
export function knownText(word: Word, variables: Variables, depth = 0): string | null {
  if (word.parts === undefined) return word.value;
  return joined(word.parts, variables, depth);
}

function joined(parts: readonly WordPart[], variables: Variables, depth: number): string | null {
  if (depth > DEPTH_MAX) return null;
  const texts = parts.map((part) => textOf(part, variables, depth));
  return texts.includes(null) ? null : texts.join('');
}

function textOf(part: WordPart, variables: Variables, depth: number): string | null {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
    case 'Glob':
      return part.value;
    case 'DoubleQuoted':
    case 'LocaleString':
      return joined(part.parts, variables, depth + 1);
    case 'SimpleExpansion':
      return valueOf(part.text.slice(1), variables);
    case 'ParameterExpansion':
      return valueOf(part.parameter, variables) ?? defaultOf(part, variables, depth);
    case 'CommandExpansion':
      return part.script === undefined ? null : outputOfScript(part.script, variables, depth + 1);
    case 'BraceExpansion':
      return part.text;
    default:
      return null;
  }
}

function defaultOf({ operation }: ParameterExpansionPart, variables: Variables, depth: number): string | null {
  return operation?.type === 'Default' && /^:?[-=]$/.test(operation.operator) ? knownText(operation.operand, variables, depth + 1) : null;
}

function valueOf(name: string, variables: Variables): string | null {
  return variables.get(name) ?? (name === 'IFS' ? ' ' : null);
}

function outputOfScript(script: ParsedScript, variables: Variables, depth: number): string | null {
  const [statement, ...more] = script.commands;
  if (statement === undefined || more.length > 0) return null;
  const output = outputOf(partsOf(statement.command), variables, depth);
  return output === null ? null : output.replace(/\n+$/, '');
}

/** Returns the commands of a pipeline. Returns none for a list with `&&` and `||`. */
export function partsOf(node: PipelineNode | { readonly type: 'AndOr' }): readonly CommandNode[] {
  if (node.type === 'AndOr') return [];
  return node.type === 'Pipeline' ? node.commands : [node];
}

/** Returns the output of a pipeline of echo or printf and decoders, or null if it is unknown. */
export function outputOf(commands: readonly CommandNode[], variables: Variables, depth = 0): string | null {
  let text: string | null = null;
  for (const [index, command] of commands.entries()) {
    if (command.type !== 'Command' || command.name === undefined) return null;
    const words = [command.name, ...command.args].map((word) => (word.type === 'Word' ? knownText(word, variables, depth + 1) : null));
    if (words.includes(null)) return null;
    const [program = '', ...args] = words as string[];
    text = index === 0 ? printed(program, args, command) : text === null ? null : decoded(text, program, args);
    if (text === null) return null;
  }
  return text;
}

function printed(program: string, args: readonly string[], command: CommandNode): string | null {
  if (program === 'echo') return args.filter((argument, at) => at > 0 || !/^-[neE]+$/.test(argument)).join(' ');
  if (program === 'printf') {
    const [format = '', ...values] = args;
    const rest = [...values];
    return format.replace(/%[sb]/g, () => rest.shift() ?? '').replace(/\\n/g, '\n');
  }
  if (program !== 'cat' && program !== 'base64') return null;
  const given = fedText(command, new Map());
  return given === null || program === 'cat' ? given : decoded(given, program, args);
}

function decoded(text: string, program: string, args: readonly string[]): string | null {
  if (program === 'cat' || program === 'tee') return text;
  if (program === 'base64' && args.some((argument) => /^(?:-d|-D|--decode)$/.test(argument)))
    return Buffer.from(text, 'base64').toString('utf8');
  if (program === 'rev') return [...text.trimEnd()].reverse().join('');
  if (program === 'xxd' && args.includes('-r') && args.includes('-p')) return Buffer.from(text.replace(/\s/g, ''), 'hex').toString('utf8');
  return null;
}

/** Returns the text of a command's here-document or here-string, or null if there is none or it is unknown. */
export function fedText(command: CommandNode, variables: Variables): string | null {
  if (command.type !== 'Command') return null;
  for (const redirect of command.redirects) {
    if (redirect.type === 'HereDoc') return redirect.body.text;
    if (redirect.type === 'HereString' && redirect.target !== undefined) return knownText(redirect.target, variables);
  }
  return null;
}
