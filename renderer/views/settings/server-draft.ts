// The form for a new MCP server: filled in by a person, or by a link. A link can set only these fields, and nothing that contains a secret.

import type { OpParams } from '../../../core/contracts/ops.ts';

export interface ServerDraft {
  readonly isFromLink: boolean;
  name: string;
  kind: 'program' | 'address';
  command: string;
  /** One argument per line. */
  args: string;
  url: string;
  confined: boolean;
}

/** The window has no schemas; the host validates everything when it is stored. */
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

/** Null for an invalid query, or one that has other fields than the form. */
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
  // In the field, a line break within an argument would look like two arguments.
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
