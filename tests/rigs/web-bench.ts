// For tests only: the web tools on a small local web, under the real rules.

import { AppError } from '../../core/contracts/errors.ts';
import type { CallFacts, ToolContext, ToolResult } from '../../core/contracts/tools.ts';
import { GuardedFetch, type GuardedFetchOptions } from '../../core/guard/egress/egress.ts';
import { SafetyChecks } from '../../core/guard/safety/safety.ts';
import { createToolBench, type ToolBench } from './tool-bench.ts';
import type { ParsedCall } from '../../core/hands/tools/tools.ts';

/** The value of every reference that ends in "key". */
export const benchSecret = 'k3y_that*nobody_may`see';
/** The only host of the small web that the person listed, and a denied one. */
export const listedHost = 'listed.test.invalid';
export const deniedHost = 'bad.test.invalid';

type Args = Readonly<Record<string, unknown>>;

export interface WebBench extends ToolBench {
  /** The tool's own answer, before the host truncates it. */
  run(tool: string, args: Args, context?: Partial<ToolContext>): Promise<ToolResult>;
  factsOf(tool: string, args: Args): CallFacts;
  idempotencyOf(tool: string, args: Args): string;
  artifactTexts(): string[];
}

export function createWebBench(web: Pick<GuardedFetchOptions, 'resolver' | 'dialer' | 'authorities'>): WebBench {
  const safety = new SafetyChecks({ policy: { allowDomains: [listedHost], denyDomains: [deniedHost] } });
  const limits = { connectMs: 3_000, headersMs: 3_000, idleMs: 3_000, totalMs: 3_000, bytesMax: 300_000 };
  const { resolver, dialer, authorities } = web;
  const ways = { ...(resolver && { resolver }), ...(dialer && { dialer }), ...(authorities && { authorities }) };
  const http = new GuardedFetch({ judge: safety, limits, ...ways });
  const secrets = {
    resolve: (ref: string): Promise<string> => {
      if (ref === 'env:BROKEN') return Promise.resolve('two\r\nx-lines: 1');
      if (!/key$/i.test(ref.slice(ref.indexOf(':')))) return Promise.reject(new AppError('secret_missing', `There is no secret ${ref}.`));
      safety.register(benchSecret, 'key');
      return Promise.resolve(benchSecret);
    },
  };
  const bench = createToolBench({
    web: { http, searchHttp: http, secrets, redact: (text) => safety.redact(text).text },
    outputBytesMax: 40_000,
  });
  const call = (tool: string, args: Args): ParsedCall => {
    const parsed = bench.host.parse(tool, JSON.stringify(args));
    if (!parsed.ok) throw parsed.error;
    return parsed.value;
  };
  return {
    ...bench,
    run: (name, given, context) => {
      const { tool, args } = call(name, given);
      return tool.run(args, bench.context(context));
    },
    factsOf: (name, given) => {
      const { tool, args } = call(name, given);
      return tool.facts(args, bench.context());
    },
    idempotencyOf: (name, given) => {
      const { tool, args } = call(name, given);
      return tool.idempotency(args);
    },
    artifactTexts: () => [...bench.artifacts.stored.values()].map((bytes) => bytes.toString()),
  };
}
