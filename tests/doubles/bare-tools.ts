// For rigs that need only the built-in tools: commands run without a sandbox, and web tools without servers.

import { configSchema } from '../../core/contracts/config.ts';
import { AppError } from '../../core/contracts/errors.ts';
import { GuardedFetch } from '../../core/guard/egress/egress.ts';
import { SafetyChecks } from '../../core/guard/safety/safety.ts';
import type { CommandSandbox } from '../../core/guard/sandbox/sandbox.ts';
import type { WebDeps } from '../../core/hands/tools/tools.ts';

export const noSandbox: CommandSandbox = {
  wrap: ({ file, args, environment, sets }) =>
    Promise.resolve({
      file,
      args,
      environment: { ...environment, ...sets },
      side: 'outside',
      dispose: () => Promise.resolve({ remarks: [], failed: false, whenFailed: null }),
    }),
};

export function silentWeb(): WebDeps {
  const config = configSchema.parse({}).web;
  const limits = { connectMs: 1_000, headersMs: 1_000, idleMs: 1_000, totalMs: 1_000, bytesMax: config.bytesMax };
  const judge = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
  const http = new GuardedFetch({ judge, limits, resolver: { resolve: () => Promise.resolve([]) } });
  const secrets = { resolve: (ref: string) => Promise.reject(new AppError('secret_missing', `There is no secret ${ref}.`)) };
  return { http, searchHttp: http, secrets, config, redact: (text) => judge.redact(text).text };
}
