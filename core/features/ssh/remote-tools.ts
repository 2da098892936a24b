// The tools ssh_forward and ssh_jobs: remote ports forwarded to this computer, and work that still runs on remote machines.

import * as z from 'zod';
import type { ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';
import type { RemoteJob } from './remote-work.ts';
import { factsOf, hostName, opened, type SshToolDeps } from './machine-access.ts';

const aim = z
  .string()
  .regex(/^(?:[A-Za-z0-9.-]{1,253}|\[[0-9a-fA-F:]{2,45}\]):\d{1,5}$/, 'must be an address and a port, such as 127.0.0.1:5432')
  .describe('Address and port as the remote machine reaches them.');

export function forwardTool(deps: SshToolDeps): ToolDefinition {
  return defineTool({
    name: 'ssh_forward',
    description:
      'Forward a port of this computer to an address that a remote machine can reach, such as a database. It stays open until ssh_jobs stops it.',
    input: z.strictObject({
      host: hostName,
      to: aim,
      port: z.int().min(1024).max(65_535).optional().describe('Port of this computer. Default: a free one.'),
    }),
    class: 'exec',
    shows: { verb: 'use_service', target: ['to'] },
    idempotency: () => 'unsafe',
    facts: ({ host, to, port }) => ({
      ...factsOf(deps, host, `forward ${port === undefined ? '' : `127.0.0.1:${port} `}to ${to}`, [
        `Until it is closed every program of this computer reaches ${to} through ${host}.`,
      ]),
      does: `Opens a port of this computer that leads to ${to} through ${host}`,
    }),
    summarize: ({ host, to }) => `forward a port to ${to} through ${host}`,
    run: async ({ host, to, port = 0 }, context): Promise<ToolResult> => {
      const at = to.lastIndexOf(':');
      const target = { host: to.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(to.slice(at + 1)) };
      const connection = await opened(deps, host, context);
      const job = await deps.work.forward(connection, { host, to: target, port }, context).catch((cause: unknown) => {
        connection.close();
        throw cause;
      });
      return { forModel: `${job.what} is open as ${job.id}. Close it with ssh_jobs when it is no longer needed.`, isAsync: true };
    },
  });
}

export function jobsTool({ work }: SshToolDeps): ToolDefinition {
  return defineTool({
    name: 'ssh_jobs',
    description: 'List what this conversation has running on remote machines, read the output of one, or stop it.',
    input: z
      .strictObject({ action: z.enum(['list', 'read', 'stop']), id: z.string().min(1).max(40).optional() })
      .refine(({ action, id }) => action === 'list' || id !== undefined, { path: ['id'], message: 'is needed' }),
    class: 'read',
    shows: { verb: 'read', target: ['id'] },
    idempotency: ({ action }) => (action === 'stop' ? 'idempotent' : 'pure'),
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: ({ action, id }) => `${action} ${id ?? 'what runs on remote machines'}`,
    run: async ({ action, id = '' }, { sessionId }): Promise<ToolResult> => {
      if (action === 'list') {
        const jobs = work.list(sessionId);
        return { forModel: jobs.length === 0 ? 'Nothing of this conversation runs on remote machines.' : jobs.map(lineOf).join('\n') };
      }
      const job = work.get(id, sessionId);
      if (action === 'stop') await work.stop(id);
      const cut = job.isCut ? ['[Only the end of its output was kept.]'] : [];
      return {
        forModel: [lineOf(job), ...cut, job.output].filter((part) => part !== '').join('\n'),
        untrusted: [{ kind: 'command', where: job.host }],
      };
    },
  });
}

function lineOf({ id, host, what, end }: RemoteJob): string {
  return `${id} on ${host}: ${what.replaceAll(/\s+/g, ' ').slice(0, 200)} ${end ?? 'is running'}.`;
}
