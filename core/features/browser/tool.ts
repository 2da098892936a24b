// The browser tool. One tool has many actions, so that a model learns a single tool. Provides the facts of each call, runs it in the
// browser and reports the page afterwards. Page content is untrusted.

import type { Page } from 'playwright-core';
import { AppError } from '../../contracts/errors.ts';
import type { ArtifactRef, CallFacts, TaintSource, ToolContext, ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';
import { type ActionDeps, type ActionResult, firstLine, performers } from './actions.ts';
import { browserArgs, type BrowserArgs } from './arguments.ts';
import type { BrowserHost } from './browser-host.ts';
import { describeAction, effectOf, factsOf } from './call-facts.ts';
import { judgeElement } from './judge-action.ts';
import { hostOf } from './page-guard.ts';
import { differenceOf, findInOutline, locate, type PageView, viewPage } from './page-view.ts';

export interface BrowserToolDeps extends ActionDeps {
  readonly refusalOf: (url: string) => string | null;
  readonly passwordsOf: (origin: string) => readonly string[];
}

const TIMEOUT_MS = 120_000;
const HANDOVER_MS = 15 * 60_000;
const OUTLINE_CHARS_MAX = 14_000;
const DIFFERENCE_CHARS_MAX = 6_000;

export function createBrowserTool(deps: BrowserToolDeps): ToolDefinition {
  const { host } = deps;
  let pictures: ReadonlyMap<string, NonNullable<CallFacts['picture']>> = new Map();
  const pictureOf = (ref: string): CallFacts['picture'] => pictures.get(ref);
  return defineTool({
    name: 'browser',
    description:
      'Use web pages in a browser of your own: open a page, act on the elements of its outline by their refs, read what changed. Every ' +
      'result shows the URL, the title and the outline or its changes. To only read a page, web_fetch is cheaper.',
    input: browserArgs,
    class: 'network',
    shows: { verb: 'browse', target: ['url', 'text', 'action'] },
    idempotency: (args) => (isLook(args) ? 'idempotent' : 'unsafe'),
    timeoutMs: HANDOVER_MS + TIMEOUT_MS,
    facts: (args, context) => factsOf(args, { ...deps, view: host.view, pictureOf }, context),
    summarize: (args) => describeAction(args, host.view),
    run: async (args, context) => {
      if (args.action === 'close' && args.tab === undefined) {
        await host.close();
        return { forModel: 'The browser is closed.' };
      }
      if (args.action === 'handover') return handOver(deps, args, context);
      const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const effect = args.action === 'open' ? null : effectOf(args, host.view);
      const seen = host.view;
      const facts = factsOf(args, { ...deps, view: seen, pictureOf }, context);
      const isAsked = facts.request?.reads === false || effect?.reads === false;
      host.guard.allow(facts.hosts);
      const work = host.use(
        async (page) => {
          // Another call changed the page first.
          if (args.ref !== undefined && host.view !== seen)
            throw new AppError('tool_failed', 'The page changed meanwhile; take a snapshot.');
          const made = await act(page, args, { ...context, signal }, deps);
          const result = await report(made.page ?? host.page ?? page, made, host, { args, context: { ...context, signal } });
          pictures = result.pictures ?? pictures;
          return result.result;
        },
        isAsked ? facts.hosts : null,
        signal,
      );
      return work.catch((cause: unknown) => Promise.reject(withSources(cause, host.view?.hosts ?? [])));
    },
  });
}

function isLook({ action }: BrowserArgs): boolean {
  return ['snapshot', 'wait', 'scroll', 'tabs', 'screenshot', 'pdf'].includes(action);
}

async function act(page: Page, args: BrowserArgs, context: ToolContext, deps: BrowserToolDeps): Promise<ActionResult> {
  if (args.action === 'handover') return { said: '' };
  if (args.action === 'close') {
    await deps.host.select(args.tab ?? '').close();
    return { said: `Closed the tab ${args.tab ?? ''}.` };
  }
  try {
    return await performers[args.action](page, args, context, deps);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('tool_failed', `To ${describeAction(args, deps.host.view)} did not work: ${firstLine(cause)}`, { cause });
  }
}

interface Call {
  readonly args: BrowserArgs;
  readonly context: ToolContext;
}

interface Reported {
  readonly result: ToolResult;
  readonly pictures: ReadonlyMap<string, NonNullable<CallFacts['picture']>> | null;
}

async function report(page: Page, made: ActionResult, host: BrowserHost, { args, context }: Call): Promise<Reported> {
  const artifacts = made.artifacts ?? [];
  if (page.isClosed()) return { result: told([made.said], [], artifacts), pictures: null };
  if (!host.guard.mayShow(page.url())) {
    const where = hostOf(page.url());
    await page.goto('about:blank').catch(() => undefined);
    return {
      result: told(
        [made.said, `The page led on to ${where}, which was not allowed, and was closed. To go there, open it.`],
        [where],
        artifacts,
      ),
      pictures: new Map(),
    };
  }
  const before = host.view;
  if (made.withoutOutline === true) {
    return { result: told([made.said, ...happened(host)], before?.hosts ?? [], artifacts), pictures: null };
  }
  const { view, pictures } = await host.restless.read(page, async () => {
    const seen = await viewPage(page);
    return { view: seen, pictures: await takePictures(page, seen, context) };
  });
  host.keep(page, view);
  const lines = [made.said, `${view.url.slice(0, 500)} · ${view.title}`, ...happened(host), outlineFor(args, before, view, context)];
  return { result: told(lines, view.hosts, artifacts), pictures };
}

function happened(host: BrowserHost): string[] {
  const { dialogs, newTabs, errors, held } = host.take();
  return [
    ...dialogs.map((dialog) => `[The page asked: ${dialog}]`),
    ...newTabs.map((tab) => `[A new tab opened: ${tab}; switch to it with the action tabs]`),
    ...held.map((reason) => `[${reason}]`),
    ...(held.some((reason) => reason.includes('held back'))
      ? ['[If it should happen, repeat the action with "sends": true; a person is then asked.]']
      : []),
    ...(errors.length === 0 ? [] : [`[Errors in the console: ${errors.length}; the first: ${errors[0] ?? ''}]`]),
  ];
}

export function outlineFor(args: BrowserArgs, before: PageView | null, view: PageView, context: ToolContext): string {
  if (view.outline.trim() === '') return '(The page shows nothing yet. Use wait or snapshot to look again.)';
  if (args.query !== undefined) return bounded(findInOutline(view.outline, args.query) || '(no line has these words)', view, context);
  const difference = args.action === 'snapshot' || args.action === 'open' ? null : differenceOf(before, view);
  if (difference === null || difference.length > DIFFERENCE_CHARS_MAX) return bounded(view.outline, view, context);
  return difference.startsWith('(') ? difference : `Changes of the outline:\n${difference}`;
}

/** Cuts a long outline at a line break and keeps the whole as an artifact. */
function bounded(text: string, view: PageView, { artifacts, callId, sessionId }: ToolContext): string {
  if (text.length <= OUTLINE_CHARS_MAX) return text;
  const cut = text.lastIndexOf('\n', OUTLINE_CHARS_MAX);
  const kept = artifacts.put(view.outline, { name: 'page-outline.txt', mediaType: 'text/plain; charset=utf-8', callId, sessionId });
  const left = text.slice(cut).split('\n').length - 1;
  return `${text.slice(0, cut)}\n… ${left} more lines; use snapshot with a query, or artifact_read {"artifact":"${kept.sha256}"}`;
}

/** Errors name elements and files as the page names them. */
export function withSources(cause: unknown, hosts: readonly string[]): unknown {
  if (!(cause instanceof AppError) || hosts.length === 0) return cause;
  const { code, message, data, isRetryable } = cause;
  return new AppError(code, message, { data, isRetryable, cause, untrusted: webSources(hosts) });
}

const webSources = (hosts: readonly string[]): TaintSource[] => hosts.map((where) => ({ kind: 'web', where }));

export function told(lines: readonly string[], hosts: readonly string[], artifacts: readonly ArtifactRef[]): ToolResult {
  return {
    forModel: lines.filter((line) => line !== '').join('\n'),
    untrusted: webSources(hosts),
    artifacts,
  };
}

async function handOver({ host }: BrowserToolDeps, args: BrowserArgs, context: ToolContext): Promise<ToolResult> {
  const url = host.view?.url ?? '';
  context.onOutput(`The browser is yours: ${args.text ?? 'close its window when you are done'}.\n`);
  await host.handOver(url, AbortSignal.any([context.signal, AbortSignal.timeout(HANDOVER_MS)]));
  return { forModel: `The person closed the window and is done. Go on with {"action":"open","url":${JSON.stringify(url)}}.` };
}

// The picture that a person sees before an action with an effect: the page with the element marked. It is taken with the snapshot, because
// computing the facts of a call must not touch the page.

type Picture = NonNullable<CallFacts['picture']>;

const HEIGHT_MAX = 3000;
const MARKED_MAX = 60;
const QUALITY = 55;
const TAKE_MS = 5_000;

/** Pictures by ref, for every element whose action would ask. Empty if there are none, or if no picture can be taken. */
async function takePictures(page: Page, view: PageView, context: ToolContext): Promise<ReadonlyMap<string, Picture>> {
  const refs = askingRefs(view).slice(0, MARKED_MAX);
  if (refs.length === 0) return new Map();
  try {
    const size = await page.evaluate<{ width: number; height: number; x: number; y: number }>(pageSize);
    const shown = { width: Math.ceil(size.width), height: Math.ceil(Math.min(size.height, HEIGHT_MAX)) };
    const bytes = await page.screenshot({
      type: 'jpeg',
      quality: QUALITY,
      scale: 'css',
      fullPage: true,
      clip: { x: 0, y: 0, ...shown },
      timeout: TAKE_MS,
    });
    const { callId, sessionId, artifacts } = context;
    const kept = artifacts.put(bytes, { name: 'page-to-approve.jpg', mediaType: 'image/jpeg', callId, sessionId });
    // The known box of an element in a frame is relative to the frame, so its box on the page is looked up.
    const boxes = await Promise.all(
      refs.map(async (ref) =>
        ref.startsWith('f')
          ? locate(page, ref)
              .boundingBox({ timeout: 1000 })
              .catch(() => null)
          : view.elements.get(ref)?.form?.box,
      ),
    );
    return new Map(
      refs.flatMap((ref, at): [string, Picture][] => {
        const box = boxes[at] ?? null;
        if (box === null || box.y + size.y > shown.height) return [];
        return [[ref, { ...kept, ...shown, mark: { ...box, x: box.x + size.x, y: box.y + size.y } }]];
      }),
    );
  } catch {
    // The page is gone or keeps changing. The approval is shown without a picture.
    return new Map();
  }
}

const pageSize = '({ width: innerWidth, height: Math.max(innerHeight, document.documentElement.scrollHeight), x: scrollX, y: scrollY })';

function askingRefs(view: PageView): string[] {
  return [...view.elements].flatMap(([ref, { form }]) => {
    if (form === null) return [];
    if (form.type === 'file') return [ref];
    const reads = judgeElement(form, 'click').reads && (!form.isField || judgeElement(form, 'submit').reads);
    return reads ? [] : [ref];
  });
}
