// The browser tool over a PinchTab server. The requests of its pages do not pass through this program, so every action beyond reading asks
// a person, and only the addresses of the pages themselves are checked.

import { sleep } from '../../base/waits.ts';
import { AppError } from '../../contracts/errors.ts';
import type { CallFacts, FactContext, ToolContext, ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';
import { browserArgs, type BrowserArgs } from './arguments.ts';
import { describeAction, factsOf } from './call-facts.ts';
import { hostOf, PageGuard, type PageGuardDeps } from './page-guard.ts';
import type { PageView } from './page-view.ts';
import type { PinchTab } from './pinchtab.ts';
import { outlineFor, told, withSources } from './tool.ts';

export interface PinchTabToolDeps {
  readonly server: PinchTab;
  readonly guard: PageGuardDeps;
  readonly refusalOf: (url: string) => string | null;
  readonly panic: { readonly signal: AbortSignal };
}

const TIMEOUT_MS = 120_000;
const SETTLE_MS = 300;
const WAIT_MS = 10_000;
const CLOSE_MS = 3_000;
const SCROLLED = { up: -600, down: 600, top: -1_000_000, bottom: 1_000_000 } as const;

/** Actions that PinchTab cannot perform safely. */
const without: ReadonlySet<BrowserArgs['action']> = new Set(['upload', 'download', 'pdf', 'handover']);
const acting: ReadonlySet<BrowserArgs['action']> = new Set(['click', 'type', 'select', 'press', 'back']);

export function createPinchTabTool(deps: PinchTabToolDeps): ToolDefinition {
  const session = new PinchTabSession(deps);
  const factsFor = (args: BrowserArgs, context: FactContext): CallFacts => {
    const refused = refusalFor(args);
    const asked = acting.has(args.action) ? { ...args, sends: true } : args;
    const facts = factsOf(
      asked,
      { ...deps, view: session.view, passwordsOf: () => [], paths: noPaths, pictureOf: () => undefined },
      context,
    );
    if (refused !== null) return { ...facts, refused };
    return acting.has(args.action) ? { ...facts, risks: [...(facts.risks ?? []), unseen] } : facts;
  };
  return defineTool({
    name: 'browser',
    description:
      'Use web pages in a browser: open a page, act on the elements of its outline by their refs, read what changed. Every result shows the ' +
      'URL, the title and the outline or its changes. To only read a page, web_fetch is cheaper.',
    input: browserArgs,
    class: 'network',
    shows: { verb: 'browse', target: ['url', 'text', 'action'] },
    idempotency: ({ action }) => (acting.has(action) || action === 'open' || action === 'close' ? 'unsafe' : 'idempotent'),
    timeoutMs: TIMEOUT_MS,
    facts: factsFor,
    summarize: (args) => describeAction(args, session.view),
    run: (args, context) => session.run(args, factsFor(args, context).hosts, context),
  });
}

const unseen = 'What the page sends is not checked: PinchTab makes its requests.';
const noPaths = {
  fact: (): never => {
    throw new AppError('invalid_arguments', 'Files are not given to pages with the driver pinchtab.');
  },
};

function refusalFor({ action, secret, values }: BrowserArgs): string | null {
  if (action === 'select' && values?.length !== 1) return 'With the driver pinchtab one value is chosen at a time.';
  if (secret !== undefined) return 'Passwords are typed with the driver chromium only, which sees where they go.';
  return without.has(action) ? `With the driver pinchtab there is no ${action}; the driver chromium has it.` : null;
}

class PinchTabSession {
  readonly #deps: PinchTabToolDeps;
  readonly #guard: PageGuard;
  #tabId: string | null = null;
  /** The page as the agent last saw it. */
  view: PageView | null = null;
  /** Where errors may take their words from: the page that was seen last, or the one being opened. */
  #hosts: readonly string[] = [];
  #isBusy: Promise<unknown> = Promise.resolve();

  constructor(deps: PinchTabToolDeps) {
    this.#deps = deps;
    this.#guard = new PageGuard(deps.guard);
  }

  /** Runs one call at a time. `hosts` are the hosts that the gate allowed this call to reach. */
  async run(args: BrowserArgs, hosts: readonly string[], context: ToolContext): Promise<ToolResult> {
    const seen = this.view;
    const before = this.#isBusy;
    const work = before.then(() => {
      // Another call changed the page first.
      if (args.ref !== undefined && this.view !== seen) throw new AppError('tool_failed', 'The page changed meanwhile; take a snapshot.');
      return this.#perform(args, hosts, { ...context, signal: AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MS)]) });
    });
    this.#isBusy = work.catch(() => undefined);
    return work.catch((cause: unknown) => Promise.reject(withSources(cause, this.#hosts)));
  }

  async #perform(args: BrowserArgs, hosts: readonly string[], context: ToolContext): Promise<ToolResult> {
    const { server } = this.#deps;
    const { signal } = context;
    if (args.action === 'close') return this.#close(args.tab);
    if (args.action === 'open') return this.#open(args, hosts, context);
    const tabId = this.#tabId;
    if (tabId === null) throw new AppError('tool_failed', 'No page is open; open one.');
    if (args.action === 'tabs') return this.#tabs(args, context);
    if (args.action === 'screenshot') return this.#picture(tabId, context);
    if (args.action === 'wait') await server.wait(tabId, waitOf(args), signal);
    else if (args.action === 'back') await server.back(tabId, signal);
    else for (const action of actionsOf(args)) await server.act(tabId, action, signal);
    if (acting.has(args.action)) await sleep(SETTLE_MS, signal);
    const did = acting.has(args.action) || args.action === 'scroll';
    return this.#report(did ? `Did: ${describeAction(args, this.view)}.` : '', args, context);
  }

  async #open(args: BrowserArgs, hosts: readonly string[], context: ToolContext): Promise<ToolResult> {
    this.#guard.allow(hosts);
    this.#hosts = [hostOf(args.url ?? '')];
    const isFirst = this.#tabId === null;
    this.#tabId = await this.#deps.server.open(args.url ?? '', this.#tabId, context.signal);
    if (isFirst) this.#deps.panic.signal.addEventListener('abort', () => void this.#close().catch(() => undefined), { once: true });
    return this.#report(`Opened ${(args.url ?? '').slice(0, 200)}.`, args, context);
  }

  async #picture(tabId: string, { signal, callId, sessionId, artifacts }: ToolContext): Promise<ToolResult> {
    const bytes = await this.#deps.server.picture(tabId, signal);
    const kept = artifacts.put(bytes, { name: 'page.png', mediaType: 'image/png', callId, sessionId });
    return told(['Took a picture of the page.'], this.view?.hosts ?? [], [kept]);
  }

  async #report(said: string, args: BrowserArgs, context: ToolContext): Promise<ToolResult> {
    const before = this.view;
    const view = await this.#deps.server.view(this.#tabId ?? '', context.signal);
    const refused = this.#deps.refusalOf(view.url);
    if (/^https?:/.test(view.url) && (refused !== null || !this.#guard.mayShow(view.url))) {
      const where = hostOf(view.url);
      await this.#close();
      return told(
        [said, `The page led on to ${where}, which was not allowed, and was closed. ${refused ?? 'To go there, open it.'}`],
        [where],
        [],
      );
    }
    this.view = view;
    this.#hosts = view.hosts;
    return told([said, `${view.url.slice(0, 500)} · ${view.title}`, outlineFor(args, before, view, context)], view.hosts, []);
  }

  /** Lists only the tabs that the agent may read. */
  async #tabs(args: BrowserArgs, context: ToolContext): Promise<ToolResult> {
    const tabs = (await this.#deps.server.tabs(context.signal)).filter(({ url }) => this.#guard.mayShow(url));
    if (args.tab !== undefined) {
      if (!tabs.some(({ id }) => id === args.tab)) throw new AppError('tool_failed', `There is no tab ${args.tab}.`);
      this.#tabId = args.tab;
      return this.#report('', args, context);
    }
    const list = tabs.map(({ id, url }) => `${id}${id === this.#tabId ? ' (this one)' : ''}: ${url.slice(0, 200)}`);
    return told(
      [`Open tabs:\n${list.join('\n')}`],
      tabs.map(({ url }) => hostOf(url)).filter((host) => host !== ''),
      [],
    );
  }

  async #close(tab?: string): Promise<ToolResult> {
    const tabId = tab ?? this.#tabId;
    if (tab === undefined || tab === this.#tabId) [this.#tabId, this.view] = [null, null];
    if (tabId !== null) await this.#deps.server.close(tabId, AbortSignal.timeout(CLOSE_MS));
    return { forModel: 'The tab is closed.' };
  }
}

function waitOf({ text, gone, ms = WAIT_MS }: BrowserArgs): Readonly<Record<string, unknown>> {
  if (text === undefined) return { ms };
  return { [gone === true ? 'notText' : 'text']: text, timeout: Math.max(100, ms) };
}

function actionsOf(args: BrowserArgs): readonly Readonly<Record<string, unknown>>[] {
  const ref = args.ref === undefined ? {} : { ref: args.ref };
  switch (args.action) {
    case 'click':
      return [{ kind: 'click', ...ref }];
    case 'type':
      return [{ kind: 'fill', ...ref, text: args.text ?? '' }, ...(args.submit === true ? [{ kind: 'press', ...ref, key: 'Enter' }] : [])];
    case 'select':
      return [{ kind: 'select', ...ref, value: args.values?.[0] ?? '' }];
    case 'press':
      return [{ kind: 'press', ...ref, key: args.key ?? '' }];
    case 'scroll':
      return [args.ref === undefined ? { kind: 'scroll', deltaY: SCROLLED[args.direction ?? 'down'] } : { kind: 'scrollintoview', ...ref }];
    default:
      return [];
  }
}
