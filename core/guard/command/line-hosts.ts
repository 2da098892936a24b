// Hosts a command line names, as far as they stand there in plain words. Best effort: one that is not found may still be talked to.

import { nameOf } from './wrappers.ts';

const url = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@\s]*@)?(\[[0-9a-f:.]+\]|[^/:?#\s\\]+)/i;
const remotePath = /^(?:[\w.-]+@)?([A-Za-z0-9][\w.-]*):(?!\/\/)[^\\]/;
const hostName = /^(?:[\w.-]+@)?([A-Za-z0-9][A-Za-z0-9.-]*)(?::\d+)?(?:\/.*)?$/;
const fetchers = new Set('curl wget http https xh aria2c'.split(' '));
const dialers = new Set('ssh sftp mosh telnet nc ncat netcat ping dig nslookup host traceroute whois ftp lftp'.split(' '));
const copiers = new Set('scp rsync git'.split(' '));
/** Flags of the dialers and fetchers whose value is the next word. */
const valued = /^-[bcDEeFIiLlmOopQRSWwXHdAuTKrx]$|^--(?:header|data|output|request|user|user-agent|form|upload-file|max-time|proxy)$/;
const HOSTS_MAX = 20;

export function hostsOf(words: readonly string[]): readonly string[] {
  const program = nameOf(words[0] ?? '');
  const hosts = new Set<string>();
  for (const [index, word] of words.slice(1).entries()) {
    const named = url.exec(word)?.[1] ?? (isOperand(words, index + 1) ? operandHost(program, word) : undefined);
    if (named !== undefined && hosts.size < HOSTS_MAX) hosts.add(named.toLowerCase().replace(/^\[|\]$/g, ''));
    if (dialers.has(program) && hosts.size > 0) break;
  }
  return [...hosts];
}

function isOperand(words: readonly string[], index: number): boolean {
  return !(words[index] ?? '').startsWith('-') && !valued.test(words[index - 1] ?? '');
}

function operandHost(program: string, word: string): string | undefined {
  if (copiers.has(program)) return remotePath.exec(word)?.[1];
  if (dialers.has(program)) return hostName.exec(word)?.[1];
  // Without a scheme the fetchers take a name with a dot in it.
  return fetchers.has(program) && /^[^/]+\.[^/]/.test(word) ? hostName.exec(word)?.[1] : undefined;
}
