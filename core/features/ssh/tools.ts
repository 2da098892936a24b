// The tools for remote machines. Everything that reaches a machine asks for approval. A grant names the machine's key, the user and the
// exact command, so it ends when one of them changes.

import * as z from 'zod';
import { decodeText } from '../../base/text-encoding.ts';
import { AppError } from '../../contracts/errors.ts';
import type { CallFacts, ToolContext, ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import type { SshHost } from '../../contracts/features/ssh.ts';
import { lookAtLine } from '../../guard/command/command.ts';
import { defineTool, LiveOutput } from '../../hands/tools/tools.ts';
import { SshConnection } from './connection.ts';
import { STOP_MS } from './remote-command.ts';
import { contentHash, readRemote, writeRemote } from './remote-file.ts';
import { addressOf } from './known-hosts.ts';
import { factsOf, hostName, opened, placeOf, using, usingFiles, type SshToolDeps } from './machine-access.ts';
import { forwardTool, jobsTool } from './remote-tools.ts';

const TIMEOUT_MS = 600_000;
/** Longer than the stop itself: if a machine no longer answers, the call still reports that. */
const GRACE_MS = STOP_MS + 1_000;
const remotePath = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0') && !path.includes('\n'), 'must be a path')
  .refine((path) => !/^~(?:\/|$)/.test(path), 'is taken as it is, without ~: what begins with no / is in the home folder');

export function createSshTools(deps: SshToolDeps): ToolDefinition[] {
  return [execTool(deps), readTool(deps), writeTool(deps), trustTool(deps), forwardTool(deps), jobsTool(deps)];
}

/** A remote command has the same risk class as the same command on this computer. */
function commandFacts(deps: SshToolDeps, name: string, line: string): CallFacts {
  const { class: gravest, risks, hosts, runsFetched, does, told } = lookAtLine(line, '', null);
  const facts = factsOf(deps, name, line, [
    ...risks,
    `It runs on ${name}, with the rights of its user there, and cannot be undone from here.`,
  ]);
  return {
    ...facts,
    hosts: [...facts.hosts, ...hosts],
    ...(gravest === 'destructive' || gravest === 'credential' ? { class: gravest } : {}),
    ...(runsFetched ? { runsFetched: true as const } : {}),
    ...(does === null ? {} : { does: `On ${name}: ${does.charAt(0).toLowerCase()}${does.slice(1)}`, told }),
  };
}

function execTool(deps: SshToolDeps): ToolDefinition {
  return defineTool({
    name: 'ssh_exec',
    description: `Run a command on a remote machine over ssh. Machines: ${deps.names.join(', ')}.`,
    input: z.strictObject({
      host: hostName,
      command: z.string().min(1).max(20_000),
      background: z.boolean().optional().describe('Keep it running after this call; ssh_jobs reads its output and stops it.'),
    }),
    class: 'exec',
    shows: { verb: 'run', target: ['command'] },
    idempotency: () => 'unsafe',
    timeoutMs: TIMEOUT_MS,
    abortGraceMs: GRACE_MS,
    facts: ({ host, command }) => commandFacts(deps, host, command),
    summarize: ({ host, command, background }) =>
      `run on ${host}${background === true ? ' in the background' : ''}: ${command.replaceAll(/\s+/g, ' ').slice(0, 200)}`,
    run: async ({ host, command, background }, context) => {
      if (background !== true) return runHere(deps, { host, command }, context);
      const job = deps.work.command(await opened(deps, host, context), { host, command }, context);
      return { forModel: `It runs on ${host} as ${job.id}. Use ssh_jobs to read its output or to stop it.`, isAsync: true };
    },
  });
}

function runHere(
  deps: SshToolDeps,
  { host, command }: { readonly host: string; readonly command: string },
  context: ToolContext,
): Promise<ToolResult> {
  return using(deps, host, context, async (connection): Promise<ToolResult> => {
    const pieces: Buffer[] = [];
    const live = new LiveOutput(context);
    const { code, isCut, isLost } = await connection.run(command, context.signal, (piece) => {
      pieces.push(piece);
      live.push(piece);
    });
    live.end();
    const output = Buffer.concat(pieces).toString('utf8');
    const untrusted = [{ kind: 'command' as const, where: host }];
    const { aborted, reason } = context.signal;
    if (isLost) {
      const told = aborted ? unansweredText(host) : lostText(host);
      return { forModel: [output, told].filter((part) => part !== '').join('\n'), endedBy: 'unknown', untrusted };
    }
    const isLate = aborted && reason instanceof Error && reason.name === 'TimeoutError';
    const end = code === 0 ? '' : `[It ended ${code === null ? 'by a signal' : `with code ${code}`}.]`;
    const cut = isCut ? '[It said more than fits, and was stopped.]' : isLate ? '[Its time was over, and it was stopped.]' : '';
    const text = [output, end, cut].filter((part) => part !== '').join('\n');
    return {
      forModel: text,
      isError: code !== 0,
      untrusted,
      ...(aborted ? { endedBy: isLate ? ('timeout' as const) : ('cancelled' as const) } : {}),
    };
  });
}

function unansweredText(host: string): string {
  return `[The command was to be stopped, but ${host} did not say that it ended. It may run on there: look before you repeat it.]`;
}

function lostText(host: string): string {
  return `[The connection to ${host} was lost while the command ran. Whether it ended there is not known, and it was not run again: look there before you repeat it.]`;
}

function readTool(deps: SshToolDeps): ToolDefinition {
  return defineTool({
    name: 'ssh_read',
    description: 'Read a file on a remote machine over ssh.',
    input: z.strictObject({ host: hostName, path: remotePath }),
    class: 'exec',
    shows: { verb: 'read', target: ['path'] },
    idempotency: () => 'idempotent',
    timeoutMs: TIMEOUT_MS,
    isPrivate: true,
    facts: ({ host, path }) => factsOf(deps, host, `read ${path}`, [`It shows the model ${path} of ${host}.`]),
    summarize: ({ host, path }) => `read ${path} on ${host}`,
    run: ({ host, path }, context) =>
      usingFiles(deps, host, context, async (sftp): Promise<ToolResult> => {
        const bytes = await readRemote(sftp, path);
        if (bytes === null) throw new AppError('tool_failed', `There is no file ${path} on ${host}.`);
        return { forModel: readable(bytes), untrusted: [{ kind: 'file', where: `${host}:${path}` }] };
      }),
  });
}

function readable(bytes: Buffer): string {
  const decoded = decodeText(bytes);
  if (decoded?.isExact !== true)
    return `[It is not text; what could not be read is shown as \uFFFD. Written back like this it would be damaged.]\n${bytes.toString('utf8')}`;
  if (decoded.encoding === 'UTF-8') return decoded.text;
  return `[It is in ${decoded.encoding}. Written back with ssh_write it would be UTF-8.]\n${decoded.text}`;
}

const writeArgs = z
  .strictObject({
    host: hostName,
    path: remotePath,
    content: z.string().max(5_000_000).optional(),
    artifact: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .describe('Restore what an earlier write replaced.'),
    remove: z.literal(true).optional().describe('Undo a write that created the file.'),
    replaces: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .describe('Only if the file still has this SHA-256.'),
  })
  .refine(
    ({ content, artifact, remove }) => [content, artifact, remove].filter((one) => one !== undefined).length === 1,
    'needs one of content, artifact, remove',
  );

function writeTool(deps: SshToolDeps): ToolDefinition {
  return defineTool({
    name: 'ssh_write',
    description: 'Write a whole file on a remote machine over ssh. The old content is kept, and the result says how to restore it.',
    input: writeArgs,
    class: 'exec',
    shows: { verb: 'write', target: ['path'] },
    idempotency: () => 'unsafe',
    timeoutMs: TIMEOUT_MS,
    // Time to report what was kept and how to restore it.
    abortGraceMs: 2_000,
    facts: (args) => {
      // Fails before a person is asked if there is no such artifact.
      if (args.artifact !== undefined) deps.artifacts.read(args.artifact, { offset: 0, length: 0 });
      return factsOf(deps, args.host, `${args.remove === true ? 'remove' : 'write'} ${args.path} ${contentHash(args)}`, [
        `It replaces ${args.path} on ${args.host}; what is there is kept first.`,
      ]);
    },
    summarize: ({ host, path, remove }) => `${remove === true ? 'remove' : 'write'} ${path} on ${host}`,
    run: (args, context) => usingFiles(deps, args.host, context, (sftp) => writeRemote(sftp, args, context)),
  });
}

function trustTool(deps: SshToolDeps): ToolDefinition {
  return defineTool({
    name: 'ssh_trust',
    description: 'Show the host key of a machine, or ask the person to trust it by its fingerprint. Needed once before the first use.',
    input: z.strictObject({
      host: hostName,
      fingerprint: z
        .string()
        .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'must be SHA256:…')
        .optional(),
    }),
    class: 'credential',
    shows: { verb: 'read', target: ['host'] },
    idempotency: () => 'idempotent',
    facts: ({ host: name, fingerprint }): CallFacts => {
      const { host } = placeOf(deps, name);
      const base = { paths: [], hosts: [host.host], command: null };
      if (fingerprint === undefined) return { ...base, class: 'network' };
      const known = deps.known.of(host);
      const changed = known !== null && known !== fingerprint;
      return {
        ...base,
        class: 'credential',
        does: `Trusts this host key for ${name} (${addressOf(host)})`,
        risks: ['Compare it with what the machine itself says (ssh-keygen -lf); a wrong one lets someone in between read everything.'],
        ...(changed
          ? { refused: `You trusted another key for ${name}: ${known}. Remove its line from ssh_known_hosts in the data folder first.` }
          : {}),
      };
    },
    summarize: ({ host, fingerprint }) => (fingerprint === undefined ? `look at the host key of ${host}` : `trust the host key of ${host}`),
    run: async ({ host: name, fingerprint }, context) => {
      const { host } = placeOf(deps, name);
      let key = '';
      // Without a trusted key no credentials are sent.
      const look = { ...deps, trusted: (one: SshHost) => (addressOf(one) === addressOf(host) ? null : deps.trusted(one)) };
      await SshConnection.open(name, look, context.signal, (seen) => (key = seen)).then(
        (connection) => connection.close(),
        (cause: unknown) => {
          if (key === '') throw cause;
        },
      );
      if (fingerprint === undefined)
        return {
          forModel: `${name} has the host key ${key}. If a person trusts it: ssh_trust ${JSON.stringify({ host: name, fingerprint: key })}`,
        };
      if (key !== fingerprint)
        throw new AppError('tool_failed', `${name} has the host key ${key}, not the one to trust. Nothing was trusted.`);
      if (deps.known.of(host) === null) deps.known.trust(host, fingerprint);
      return { forModel: `The host key of ${name} is trusted from now on.` };
    },
  });
}
