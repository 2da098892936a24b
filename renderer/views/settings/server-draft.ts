// The form for an MCP server that is not there yet: filled by hand, or by a link. A link may name what is added and nothing that holds a secret.

import type { OpParams } from '../../../core/contracts/ops.ts';

export interface ServerDraft {
  readonly isFromLink: boolean;
  name: string;
  kind: 'program' | 'address';
  command: string;
  /** One on each line. */
  args: string;
  url: string;
  confined: boolean;
}

/** The window carries no schemas; what is added is checked again where it is kept. */
const namePattern = /^[a-z][a-z0-9-]{0,30}$/;
const linkKeys: readonly string[] = ['name', 'command', 'arg', 'url'];

export const emptyServer = (): ServerDraft => ({
  isFromLink: false,
  name: '',
  kind: 'program',
  command: '',
  args: '',
  url: '',
  confined: false,
});

/** Null for a query that is none, or that says more or less than a form holds. */
export function draftOfLink(query: string): ServerDraft | null {
  const given = new URLSearchParams(query);
  const keys = [...given.keys()];
  const isOnce = ['name', 'command', 'url'].every((key) => given.getAll(key).length <= 1);
  const name = given.get('name') ?? '';
  const command = given.get('command') ?? '';
  const url = given.get('url') ?? '';
  const args = given.getAll('arg');
  const isWhole = keys.every((key) => linkKeys.includes(key)) && isOnce && namePattern.test(name);
  const isOneKind = (command === '') !== (url === '') && (args.length === 0 || url === '');
  // A line end would hide in the field what is one argument and what are two.
  if (!isWhole || !isOneKind || args.some((arg) => /[\r\n]/.test(arg)) || !isWebAddress(url)) return null;
  return { isFromLink: true, name, kind: url === '' ? 'program' : 'address', command, args: args.join('\n'), url, confined: false };
}

function isWebAddress(url: string): boolean {
  return url === '' || ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '');
}

export function serverOf({ name, kind, command, args, url, confined }: ServerDraft): OpParams<'mcp.add'> {
  if (kind === 'address') return { name: name.trim(), url: url.trim() };
  const list = args.split('\n').filter((line) => line !== '');
  return { name: name.trim(), command: command.trim(), ...(list.length === 0 ? {} : { args: list }), ...(confined ? { confined } : {}) };
}
