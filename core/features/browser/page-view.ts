// The agent's view of a page: its outline with refs, the effects of the elements behind the refs, and the difference from the previous
// outline. Acts on nothing.

import type { Frame, Locator, Page } from 'playwright-core';
import * as z from 'zod';
import { AppError } from '../../contracts/errors.ts';
import { describingEngine, elementFormSchema, type ElementForm } from './element-form.ts';

export interface PageView {
  readonly url: string;
  readonly title: string;
  /** One element per line: `- button "Send" [ref=e5]`. */
  readonly outline: string;
  /** Elements that can be acted on, by ref. */
  readonly elements: ReadonlyMap<string, ViewedElement>;
  /** The ref of the focused element. */
  readonly active: string | null;
  /** Hosts of the page and its frames. */
  readonly hosts: readonly string[];
}

export interface ViewedElement {
  readonly role: string;
  readonly name: string;
  /** Null if the element could not be inspected. */
  readonly form: ElementForm | null;
}

interface OutlineEntry extends Pick<ViewedElement, 'role' | 'name'> {
  readonly ref: string;
  readonly isActive: boolean;
  readonly isPointed: boolean;
}

const OUTLINE_MS = 10_000;
const LOOK_MS = 2_000;
const LOOKED_AT_MAX = 250;
const DIFFERENCE_SHARE_MAX = 0.6;
const acted: ReadonlySet<string> = new Set(
  'button link menuitem menuitemcheckbox menuitemradio tab option switch checkbox radio clickable textbox searchbox combobox spinbutton slider'.split(
    ' ',
  ),
);

export async function viewPage(page: Page): Promise<PageView> {
  // The snapshot would wait for a body, which is missing if the page's navigation was blocked while it loaded.
  const hasBody = await page.evaluate<boolean>('document.body !== null').catch(() => true);
  const seen = hasBody ? await page.ariaSnapshot({ mode: 'ai', timeout: OUTLINE_MS }).catch(outlineFailure) : '';
  const outline = [seen, ...(await clickableWords(page))].join('\n');
  const entries = entriesOf(outline);
  // The summary of a `details` element has the role generic and a name.
  const isActedOn = ({ role, name, isPointed }: OutlineEntry): boolean =>
    acted.has(role) || isPointed || (role === 'generic' && name !== '');
  const looked = entries.filter(isActedOn).slice(0, LOOKED_AT_MAX);
  const forms = await lookAt(
    page,
    looked.map(({ ref }) => ref),
  );
  const elements = new Map(looked.map(({ ref, role, name }) => [ref, { role, name, form: forms.get(ref) ?? null }]));
  return {
    url: page.url(),
    title: (await page.title().catch(() => '')).slice(0, 300),
    outline: withoutPasswords(outline, elements),
    elements,
    active: entries.find(({ isActive }) => isActive)?.ref ?? null,
    hosts: [...new Set(page.frames().flatMap((frame) => URL.parse(frame.url())?.hostname ?? ''))].filter((host) => host !== ''),
  };
}

function outlineFailure(cause: unknown): never {
  if (!(cause instanceof Error) || cause.name !== 'TimeoutError') throw cause;
  throw new AppError('tool_failed', `The page is too large or too busy: no outline of it was made within ${OUTLINE_MS / 1000} s.`, {
    cause,
    hint: 'Read its address with web_fetch, or take a screenshot.',
  });
}

export function locate(page: Page, ref: string): Locator {
  return page.locator(ref.startsWith('x') ? `[data-outline-ref="${ref}"]` : `aria-ref=${ref}`);
}

const CLICKABLE_MAX = 60;
const clickableSchema = z.array(z.object({ ref: z.string().regex(/^x\d+$/), text: z.string() })).max(CLICKABLE_MAX);

/** An outline merges clickable text that is not a link into the surrounding text, so each clickable text gets a separate line. */
async function clickableWords(page: Page): Promise<string[]> {
  const told = await page.evaluate(findClickable).catch(() => []);
  return (clickableSchema.safeParse(told).data ?? []).map(({ ref, text }) => `- clickable ${JSON.stringify(text)} [ref=${ref}]`);
}

const findClickable = String.raw`(() => {
  const found = [];
  let last = Math.max(0, ...[...document.querySelectorAll('[data-outline-ref]')].map((one) => Number(one.dataset.outlineRef.slice(1)) || 0));
  for (const one of document.querySelectorAll('span,b,i,em,strong,u,small,code,a:not([href])')) {
    if (found.length >= 60) break;
    const style = getComputedStyle(one);
    const text = (one.textContent || '').replace(/\s+/g, ' ').trim();
    if (style.display !== 'inline' || text === '' || text.length > 80 || one.getClientRects().length === 0) continue;
    const above = one.parentElement && getComputedStyle(one.parentElement).cursor;
    if (!one.hasAttribute('onclick') && (style.cursor !== 'pointer' || above === 'pointer')) continue;
    if (one.closest('a[href],button,label,summary,[role]') || one.querySelector('a[href],button,input,select,textarea,[role]')) continue;
    if (!one.dataset.outlineRef) one.dataset.outlineRef = 'x' + ++last;
    found.push({ ref: one.dataset.outlineRef, text });
  }
  return found;
})()`;

/** Removes the values of password fields from an outline. */
function withoutPasswords(outline: string, elements: PageView['elements']): string {
  const refs = [...elements].filter(([, { form }]) => form?.isPassword === true).map(([ref]) => `[ref=${ref}]`);
  if (refs.length === 0) return outline;
  const isField = (line: string): boolean => refs.some((ref) => line.includes(ref));
  return outline
    .split('\n')
    .map((line) => (isField(line) ? line.replace(/(\[ref=\w+\](?: \[[^\]]*\])*'?): .*/, '$1: (not shown)') : line))
    .join('\n');
}

const toldSchema = z.array(z.tuple([z.string(), z.unknown()]));

/**
 * Describes elements by ref. A missing entry means that the element is gone, its description is invalid or its page is busy. It counts as
 * unknown, which asks.
 */
export async function lookAt(page: Page, refs: readonly string[]): Promise<ReadonlyMap<string, ElementForm>> {
  if (refs.length === 0) return new Map();
  // Refs of elements in frames begin with f.
  const frames = refs.some((ref) => ref.startsWith('f')) ? page.frames() : [page.mainFrame()];
  return new Map((await Promise.all(frames.map((frame) => lookWithin(frame, refs)))).flat());
}

async function lookWithin(frame: Frame, refs: readonly string[]): Promise<[string, ElementForm][]> {
  try {
    const text = await frame.locator(`${describingEngine.name}=${refs.join(',')}`).textContent({ timeout: LOOK_MS });
    return toldSchema.parse(JSON.parse(text ?? '[]')).flatMap(([ref, told]): [string, ElementForm][] => {
      const { data } = elementFormSchema.safeParse(told);
      return data === undefined ? [] : [[ref, data]];
    });
  } catch {
    // The element is gone, or its page is busy.
    return [];
  }
}

/** Parses the elements of an outline. A ref counts only in the attribute position, so that text of the page cannot forge one. */
export function entriesOf(outline: string): OutlineEntry[] {
  return outline.split('\n').flatMap((line) => {
    const [, quoted, plain] = /^\s*- (?:'((?:[^']|'')*)'|(.*))/.exec(line) ?? [];
    const text = quoted?.replaceAll("''", "'") ?? plain ?? '';
    const [, role = '', name = '', attributes = ''] = /^([a-z]+)(?: "((?:[^"\\]|\\.)*)"| \/[^/]*\/)?((?: \[[^\]]*\])*)/.exec(text) ?? [];
    const ref = /\[ref=([a-z0-9]+)\]/.exec(attributes)?.[1];
    if (ref === undefined) return [];
    const isPointed = attributes.includes('[cursor=pointer]');
    return [{ ref, role, name: name.replaceAll(/\\(.)/g, '$1'), isActive: attributes.includes('[active]'), isPointed }];
  });
}

/** Lines of the outline that contain all words of the query, with their parent lines. */
export function findInOutline(outline: string, query: string): string {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const above: string[] = [];
  const found: string[] = [];
  for (const line of outline.split('\n')) {
    const depth = (/^ */.exec(line)?.[0].length ?? 0) / 2;
    above.length = Math.min(above.length, depth);
    if (words.every((word) => line.toLowerCase().includes(word))) {
      found.push(...above.filter((one) => one !== ''), line);
      above.fill('');
    }
    above[depth] = line;
  }
  return found.join('\n');
}

/** Added (+) and removed (-) lines. Null if the whole outline is shorter or clearer. */
export function differenceOf(before: PageView | null, after: PageView): string | null {
  if (before === null || before.url.split('#')[0] !== after.url.split('#')[0]) return null;
  if (before.outline === after.outline) return '(nothing changed)';
  const gone = countLines(withoutFocus(before.outline));
  const came: string[] = [];
  for (const line of withoutFocus(after.outline).split('\n')) {
    const left = gone.get(line) ?? 0;
    if (left > 0) gone.set(line, left - 1);
    else came.push(`+ ${line}`);
  }
  const went = [...gone].flatMap(([line, count]) => Array.from({ length: count }, () => `- ${line}`));
  const text = [...went, ...came].join('\n');
  return text.length > after.outline.length * DIFFERENCE_SHARE_MAX ? null : text;
}

/** Removes the focus mark, which changes with every action. */
function withoutFocus(outline: string): string {
  return outline.replaceAll(' [active]', '');
}

function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
