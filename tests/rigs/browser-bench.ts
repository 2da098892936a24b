// For tests only: the browser tool over a real browser and a small web on loopback. Calls run as in a turn, but without the gate: `facts`
// returns what the gate would judge.

import { configSchema, type ConfigInput } from '../../core/contracts/config.ts';
import type { ToolContext, ToolDefinition } from '../../core/contracts/tools.ts';
import { createToolBench, type ToolBench } from './tool-bench.ts';
import type { HostedResult } from '../../core/hands/tools/tools.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { systemLater } from '../../core/base/clock.ts';
import { PanicSwitch } from '../../core/guard/panic/panic.ts';
import { findChromium } from '../../build/chromium.ts';
import { findChromiums } from '../../core/store/home/home.ts';
import { Web, type WebHandler } from '../doubles/web/web.ts';
import { browser } from '../../core/features/browser/browser.ts';

export const shop = 'shop.test.invalid';
const publicAddress = '93.184.216.34';

/** The browser that the tool finds on this computer. The headless shell of end-to-end tests behaves differently, so it is only used if there is no other. */
export function installedBrowser(): string | undefined {
  return findChromiums(process.env, process.platform).next().value ?? findChromium() ?? undefined;
}

export interface BrowserBench {
  readonly web: Web;
  readonly bench: ToolBench;
  readonly tool: ToolDefinition;
  readonly panic: PanicSwitch;
  /** Serves pages by path; `host path` for a host other than the shop. */
  serve(pages: Readonly<Record<string, string>>, other?: WebHandler): void;
  /** The facts of the call, on which the gate decides. */
  facts(args: Readonly<Record<string, unknown>>): ReturnType<ToolDefinition['facts']>;
  call(args: Readonly<Record<string, unknown>>, overrides?: Partial<ToolContext>): Promise<HostedResult>;
  /** The text of the result, or of the failure. */
  say(args: Readonly<Record<string, unknown>>): Promise<string>;
  dispose(): Promise<void>;
}

export interface BrowserBenchOptions {
  readonly browser?: NonNullable<ConfigInput['browser']>;
  readonly answers?: Readonly<Record<string, readonly string[]>>;
  readonly secrets?: Readonly<Record<string, string>>;
}

export async function startBrowserBench(options: BrowserBenchOptions = {}): Promise<BrowserBench> {
  const answers = {
    [shop]: [publicAddress],
    'other.test.invalid': [publicAddress],
    'listed.test.invalid': [publicAddress],
    ...options.answers,
  };
  const web = await Web.start({ answers, publicAddresses: [publicAddress] });
  const bench = createToolBench();
  const panic = new PanicSwitch();
  const closing = new AbortController();
  const executable = installedBrowser();
  const config = configSchema.parse({
    browser: { allowHosts: [shop, 'listed.test.invalid'], ...(executable === undefined ? {} : { executable }), ...options.browser },
  });
  const made = browser.create(
    {
      home: bench.home,
      config,
      environment: process.env,
      later: systemLater,
      logger: silentLogger,
      panic,
      secrets: { resolve: (ref: string) => Promise.resolve(options.secrets?.[ref] ?? '') },
      instanceMarker: bench.instanceMarker,
      closing: closing.signal,
      options: { browser: { ports: { resolver: web.resolver, dialer: web.dialer } } },
    },
    null,
  );
  const [tool] = made.tools;
  if (tool === undefined) throw new Error('the feature has no tool');
  bench.host.register(tool);
  const call: BrowserBench['call'] = (args, overrides) => bench.call('browser', args, overrides);
  return {
    web,
    bench,
    tool,
    panic,
    serve: (pages, other = (_request, response) => void response.writeHead(404).end('nothing here')) =>
      web.handle((request, response) => {
        const page = request.method === 'GET' ? (pages[request.path] ?? pages[`${request.host} ${request.path}`]) : undefined;
        if (page === undefined) return other(request, response);
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
      }),
    facts: (args) => {
      const parsed = bench.host.parse('browser', JSON.stringify(args));
      if (!parsed.ok) throw parsed.error;
      return tool.facts(parsed.value.args, bench.context());
    },
    call,
    say: async (args) => (await call(args)).forModel,
    dispose: async () => {
      closing.abort();
      await made.dispose?.();
      await bench.dispose();
      await web.dispose();
    },
  };
}

/** The ref of the first element in an outline with this role and text. */
export function refOf(text: string, role: string, words = ''): string {
  const line = text.split('\n').find((one) => new RegExp(`^\\W*${role}\\b`).test(one) && one.includes(words) && one.includes('[ref='));
  const ref = line === undefined ? undefined : /\[ref=(\w+)\]/.exec(line)?.[1];
  if (ref === undefined) throw new Error(`no ${role} ${words} in:\n${text}`);
  return ref;
}
