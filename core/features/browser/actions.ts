// Performs the actions of the browser tool on a page. Inspects the element again before each action and refuses to act if the decision
// about the call no longer fits the element.

import { basename } from 'node:path';
import { readFileSync, statSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { settlesWithin, sleep } from '../../base/waits.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ArtifactRef, ToolContext } from '../../contracts/tools.ts';
import type { createCheckedPaths } from '../../hands/tools/tools.ts';
import type { BrowserArgs } from './arguments.ts';
import type { BrowserHost } from './browser-host.ts';
import { describeAction, effectOf } from './call-facts.ts';
import { effectOfUrl } from './judge-action.ts';
import { locate, lookAt, type PageView } from './page-view.ts';

export interface ActionDeps {
  readonly host: BrowserHost;
  readonly resolve: (ref: string) => Promise<string>;
  readonly paths: Pick<ReturnType<typeof createCheckedPaths>, 'fact' | 'confirm'>;
}

export interface ActionResult {
  /** A sentence in the past tense about what the action did. */
  readonly said: string;
  readonly artifacts?: readonly ArtifactRef[];
  /** The page after the action, if it is another one. */
  readonly page?: Page;
  /** Omits the outline from the report, because it has nothing new. */
  readonly withoutOutline?: boolean;
}

type Perform = (page: Page, args: BrowserArgs, context: ToolContext, deps: ActionDeps) => Promise<ActionResult>;

const ACT_MS = 3_000;
const LOAD_MS = 30_000;
const WAIT_MS = 10_000;
const CLOSE_MS = 3_000;
const DOWNLOAD_MS = 60_000;
const FILE_BYTES_MAX = 50 * 1024 * 1024;

export const performers: Readonly<Record<Exclude<BrowserArgs['action'], 'close' | 'handover'>, Perform>> = {
  open,
  snapshot: () => Promise.resolve({ said: '' }),
  click: async (page, args, context, deps) => {
    const element = await confirmed(page, args, deps);
    deps.host.guard.touch(page.url());
    await press(element);
    await deps.host.settle(page, context.signal);
    return done(args, deps);
  },
  type,
  select: async (page, args, context, deps) => {
    const element = await confirmed(page, args, deps);
    deps.host.guard.touch(page.url());
    const values = args.values ?? [];
    await element.selectOption(values, { timeout: ACT_MS });
    await deps.host.settle(page, context.signal);
    return done(args, deps);
  },
  press: async (page, args, context, deps) => {
    deps.host.guard.touch(page.url());
    if (args.ref === undefined) {
      await confirmFocus(page, args, deps);
      await page.keyboard.press(args.key ?? '');
    } else await (await confirmed(page, args, deps)).press(args.key ?? '', { timeout: ACT_MS, noWaitAfter: true });
    await deps.host.settle(page, context.signal);
    return done(args, deps);
  },
  wait,
  scroll: async (page, args) => {
    if (args.ref !== undefined) await locate(page, args.ref).scrollIntoViewIfNeeded({ timeout: ACT_MS });
    else await page.evaluate(scrollScript(args.direction ?? 'down'));
    return { said: 'Scrolled.' };
  },
  tabs: async (_page, args, _context, { host }) => {
    const page = args.tab === undefined ? null : host.select(args.tab);
    await page?.bringToFront();
    const list = host.tabs().map(({ id, url, isActive }) => `${id}${isActive ? ' (this one)' : ''}: ${url.slice(0, 200)}`);
    return { said: `Open tabs:\n${list.join('\n')}`, ...(page === null ? { withoutOutline: true } : { page }) };
  },
  back: async (page, _args, context, { host }) => {
    const answer = await page.goBack({ timeout: LOAD_MS, waitUntil: 'commit' });
    await host.settle(page, context.signal);
    return { said: answer === null ? 'There is no page before this one.' : 'Went back.' };
  },
  upload: async (page, args, context, deps) => {
    const path = deps.paths.confirm(args, args.path ?? '', 'read', context).real;
    if (statSync(path).size > FILE_BYTES_MAX) throw new AppError('tool_failed', `${args.path ?? ''} is larger than 50 MB.`);
    const element = await confirmed(page, args, deps);
    deps.host.guard.touch(page.url());
    await element.setInputFiles(
      { name: basename(path), mimeType: 'application/octet-stream', buffer: readFileSync(path) },
      { timeout: ACT_MS },
    );
    await deps.host.settle(page, context.signal);
    return done(args, deps);
  },
  download,
  screenshot: async (page, args, context) => {
    const shot = args.ref === undefined ? await page.screenshot() : await locate(page, args.ref).screenshot({ timeout: ACT_MS });
    return { said: 'Took a picture of the page.', artifacts: [kept(shot, 'page.png', 'image/png', context)], withoutOutline: true };
  },
  pdf: async (page, _args, context) => {
    const bytes = await page.pdf();
    return { said: 'Kept the page as a PDF.', artifacts: [kept(bytes, 'page.pdf', 'application/pdf', context)], withoutOutline: true };
  },
};

async function open(page: Page, args: BrowserArgs, context: ToolContext, { host }: ActionDeps): Promise<ActionResult> {
  const url = args.url ?? '';
  const said = `Opened ${url.slice(0, 200)}.`;
  // Opening an address only reads, unless the address itself has an effect. Only a reading request may be repeated.
  const mayAskAgain = effectOfUrl(url) === null && !context.signal.aborted;
  try {
    if (!host.wasRestless) {
      if (await arrives(page, url, host, context.signal)) return { said };
      if (!mayAskAgain) throw new Error('The page before it navigated at the same moment.');
    }
    // A page that navigates all the time might never be left otherwise, so the address is opened in a new tab.
    const fresh = await host.newTab();
    await settlesWithin(page.close(), CLOSE_MS);
    await host.goTo(fresh, url);
    await host.settle(fresh, context.signal);
    return { said, page: fresh };
  } catch (cause) {
    const reason = host.take().held[0] ?? firstLine(cause);
    throw new AppError('tool_failed', `${url.slice(0, 200)} could not be opened: ${reason}`, { cause });
  }
}

/** Goes to the address. Returns false if the previous page navigated again in the meantime. */
async function arrives(page: Page, url: string, host: BrowserHost, signal: AbortSignal): Promise<boolean> {
  const left = placeOf(page.url());
  try {
    await host.goTo(page, url);
  } catch (cause) {
    const text = firstLine(cause);
    if (text.includes('interrupted by another navigation') || (text.includes('ERR_ABORTED') && !host.guard.hasHeld)) return false;
    throw cause;
  }
  await host.settle(page, signal);
  return placeOf(page.url()) !== left || placeOf(url) === left;
}

/** Drops query and fragment, since a page that reloads itself often changes only those. */
function placeOf(url: string): string {
  return url.replace(/[?#].*$/s, '');
}

async function type(page: Page, args: BrowserArgs, context: ToolContext, deps: ActionDeps): Promise<ActionResult> {
  const { host } = deps;
  const element = await confirmed(page, args, deps);
  const text = args.secret === undefined ? (args.text ?? '') : await deps.resolve(args.secret);
  host.guard.touch(page.url());
  host.guard.typed(text);
  await element.fill(text, { timeout: ACT_MS });
  if (args.submit === true) await element.press('Enter', { timeout: ACT_MS, noWaitAfter: true });
  await host.settle(page, context.signal);
  return done(args, deps);
}

async function wait(page: Page, args: BrowserArgs, context: ToolContext): Promise<ActionResult> {
  const timeout = args.ms ?? WAIT_MS;
  if (args.text === undefined) {
    await sleep(timeout, context.signal);
    return { said: `Waited ${timeout} ms.` };
  }
  const found = page.getByText(args.text).first();
  const state = args.gone === true ? 'hidden' : 'visible';
  const came = await found.waitFor({ state, timeout }).then(
    () => true,
    () => false,
  );
  const shown = `“${args.text.slice(0, 100)}”`;
  if (came) return { said: args.gone === true ? `${shown} is gone.` : `${shown} is there.` };
  throw new AppError('tool_failed', `${shown} ${args.gone === true ? 'is still there' : 'did not show'} after ${timeout} ms.`);
}

async function download(page: Page, args: BrowserArgs, context: ToolContext, deps: ActionDeps): Promise<ActionResult> {
  const { host } = deps;
  host.downloads.length = 0;
  const element = await confirmed(page, args, deps);
  host.guard.touch(page.url());
  await press(element);
  const over = AbortSignal.any([context.signal, AbortSignal.timeout(WAIT_MS)]);
  while (host.downloads.length === 0 && !over.aborted) await sleep(50, over);
  const [first] = host.downloads;
  if (first === undefined) throw new AppError('tool_failed', 'Nothing was downloaded: the click started no download.');
  const arriving = first.path().catch(() => null);
  const path = (await settlesWithin(arriving, DOWNLOAD_MS, context.signal)) ? await arriving : null;
  if (path === null)
    throw new AppError('tool_failed', `The download of ${first.suggestedFilename()} did not end well: it failed or took too long.`);
  if (statSync(path).size > FILE_BYTES_MAX)
    throw new AppError('tool_failed', `${first.suggestedFilename()} is larger than 50 MB, and was not kept.`);
  const ref = kept(readFileSync(path), first.suggestedFilename().slice(-120) || 'download', 'application/octet-stream', context);
  await first.delete().catch(() => undefined);
  return { said: `Downloaded ${ref.name} (${ref.sizeBytes} bytes); read it with artifact_read.`, artifacts: [ref] };
}

/** Returns the element if acting on it still has the effect that was decided about. */
async function confirmed(page: Page, args: BrowserArgs, { host }: ActionDeps): Promise<Locator> {
  const ref = args.ref ?? '';
  const { view } = host;
  const known = view?.elements.get(ref);
  const form = (await locate(page, ref).count()) === 0 ? undefined : (await lookAt(page, [ref])).get(ref);
  if (view === null || form === undefined) {
    throw new AppError('tool_failed', `There is no element ${ref} on the page now.`, { hint: 'Take a snapshot, and use its refs.' });
  }
  const now: PageView = { ...view, elements: new Map([[ref, { role: known?.role ?? '', name: known?.name ?? '', form }]]) };
  if (!isSame(args, view, now)) throw changedError(args, view);
  return locate(page, ref);
}

/** A key without a ref goes to the focused element, so that element is checked as well. */
async function confirmFocus(page: Page, args: BrowserArgs, deps: ActionDeps): Promise<void> {
  const { view } = deps.host;
  if (view?.active === null || view === null) return;
  await confirmed(page, { ...args, ref: view.active }, deps);
}

function isSame(args: BrowserArgs, before: PageView, now: PageView): boolean {
  const [was, is] = [effectOf(args, before), effectOf(args, now)];
  const formOf = (view: PageView) => view.elements.get(args.ref ?? '')?.form ?? null;
  // The approval was for an unknown effect, and the element now only reads.
  if (formOf(before) === null && is.reads && args.secret === undefined) return true;
  const isSecretPlace = args.secret === undefined || (formOf(before)?.origin === formOf(now)?.origin && formOf(now)?.isPassword === true);
  return was.reads === is.reads && was.class === is.class && was.method === is.method && was.url === is.url && isSecretPlace;
}

function changedError(args: BrowserArgs, view: PageView): AppError {
  return new AppError('tool_failed', `The page changed: to ${describeAction(args, view)} would do something else now. Nothing was done.`, {
    hint: 'Take a snapshot, and look again.',
  });
}

/** Clicks as a person would. If the element keeps moving or is covered, dispatches a click event to it directly. */
async function press(element: Locator): Promise<void> {
  try {
    await element.click({ timeout: ACT_MS, noWaitAfter: true });
  } catch {
    await element.dispatchEvent('click', {}, { timeout: ACT_MS });
  }
}

function done(args: BrowserArgs, { host }: ActionDeps): ActionResult {
  const text = describeAction(args, host.view);
  return { said: `Done: ${text}.` };
}

function kept(bytes: Uint8Array, name: string, mediaType: string, { artifacts, callId, sessionId }: ToolContext): ArtifactRef {
  return artifacts.put(bytes, { name, mediaType, callId, sessionId });
}

function scrollScript(direction: NonNullable<BrowserArgs['direction']>): string {
  const far = { up: '-innerHeight * 0.8', down: 'innerHeight * 0.8', top: '-1e9', bottom: '1e9' }[direction];
  return `window.scrollBy(0, ${far})`;
}

export function firstLine(cause: unknown): string {
  return (
    (cause instanceof Error ? cause.message : String(cause))
      .split('\n')[0]
      ?.replace(/^[\w.]+: /, '')
      .replace(/^Timeout (\d+)[\d.]*ms exceeded/, (_, ms: string) => `it took longer than ${Math.round(Number(ms) / 1000)} s`)
      .slice(0, 300) ?? ''
  );
}
