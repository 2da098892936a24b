// A client of a PinchTab server, which drives the browser over HTTP. Turns its snapshots into outlines. The requests of its pages cannot be
// checked here, so no decision relies on what a page says (pinchtab-tool.ts).

import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { resolvedValue } from '../../contracts/secret-ref.ts';
import { GuardedFetch } from '../../guard/egress/egress.ts';
import { OneOriginCheck } from '../../guard/safety/safety.ts';
import type { ElementForm } from './element-form.ts';
import type { PageView, ViewedElement } from './page-view.ts';

export interface PinchTabDeps {
  readonly baseUrl: string;
  readonly token: string | undefined;
  readonly resolve: (reference: string) => Promise<string>;
}

/** PinchTab gives a page a minute to load. */
const LIMITS = { connectMs: 3_000, headersMs: 65_000, idleMs: 15_000, totalMs: 70_000, bytesMax: 8 * 1024 * 1024 };
const DEPTH_MAX = 30;
const NAME_CHARS_MAX = 400;

const text = z.string().transform((value) => value.slice(0, NAME_CHARS_MAX));
const nodeSchema = z.object({
  ref: z.string().regex(/^[a-z0-9]{1,20}$/),
  role: text,
  name: text.default(''),
  depth: z.number().int().min(0).default(0),
  value: text.optional(),
  tag: text.optional(),
  disabled: z.boolean().optional(),
  focused: z.boolean().optional(),
  hidden: z.boolean().optional(),
});
type PageNode = z.infer<typeof nodeSchema>;
const snapshotSchema = z.object({ url: z.string(), title: z.string().default(''), nodes: z.array(nodeSchema).max(20_000) });
const openedSchema = z.object({ tabId: z.string().min(1) });
const tabsSchema = z.object({ tabs: z.array(z.object({ id: z.string(), url: z.string() })) });
const imageSchema = z.object({ base64: z.string() });
const errorSchema = z.object({ error: z.string().optional(), detail: z.string().optional(), code: z.string().optional() });

/** Explains PinchTab's refusals, by code, to the agent and the person. */
const refusals: Readonly<Record<string, string>> = {
  token_required: 'No token is set in PinchTab, so it refuses every request. Set one there, and name it in browser.pinchtab.token.',
  missing_token: 'PinchTab wants a token: name it in browser.pinchtab.token.',
  bad_token: 'PinchTab does not know the token in browser.pinchtab.token.',
  idpi_domain_blocked: "PinchTab's own rules block this page. A person can add its host to the allowed domains there.",
  idpi_blocked: "PinchTab's own rules block what this page says. A person can change them there.",
  tab_locked: 'Another program has locked this tab.',
  tab_paused_handoff: 'A person works in this tab at the moment.',
  dialog_blocking: 'The page shows a dialog, and waits for an answer.',
  rate_limited: 'PinchTab takes no more requests for the moment.',
  browser_draining: 'The browser of PinchTab is closing.',
  no_current_tab: 'The tab is gone; open a page.',
  navigation_changed: 'The page changed meanwhile; take a snapshot.',
};

type Route = readonly ['GET' | 'POST', string];

export class PinchTab {
  readonly #deps: PinchTabDeps;
  readonly #base: string;
  readonly #http: GuardedFetch;

  constructor(deps: PinchTabDeps) {
    this.#deps = deps;
    this.#base = deps.baseUrl.replace(/\/+$/, '');
    this.#http = new GuardedFetch({ judge: new OneOriginCheck(this.#base), limits: LIMITS });
  }

  /** Opens the address, in a new tab if no tab is given. */
  async open(url: string, tabId: string | null, signal: AbortSignal): Promise<string> {
    const place = tabId === null ? { newTab: true } : { tabId };
    return (await this.#call(['POST', '/navigate'], { url, ...place }, openedSchema, signal)).tabId;
  }

  async view(tabId: string, signal: AbortSignal): Promise<PageView> {
    const path = `/snapshot?filter=all&format=json&tabId=${encodeURIComponent(tabId)}`;
    return viewOf(await this.#call(['GET', path], null, snapshotSchema, signal));
  }

  /** Performs an action in PinchTab's own format. */
  act(tabId: string, action: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown> {
    return this.#call(['POST', '/action'], { ...action, tabId }, z.unknown(), signal);
  }

  wait(tabId: string, until: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown> {
    return this.#call(['POST', '/wait'], { ...until, tabId }, z.unknown(), signal);
  }

  back(tabId: string, signal: AbortSignal): Promise<unknown> {
    return this.#call(['POST', `/back?tabId=${encodeURIComponent(tabId)}`], {}, z.unknown(), signal);
  }

  async tabs(signal: AbortSignal): Promise<readonly { readonly id: string; readonly url: string }[]> {
    return (await this.#call(['GET', '/tabs'], null, tabsSchema, signal)).tabs;
  }

  async picture(tabId: string, signal: AbortSignal): Promise<Buffer> {
    const path = `/screenshot?format=png&tabId=${encodeURIComponent(tabId)}`;
    return Buffer.from((await this.#call(['GET', path], null, imageSchema, signal)).base64, 'base64');
  }

  close(tabId: string, signal: AbortSignal): Promise<unknown> {
    return this.#call(['POST', `/tabs/${encodeURIComponent(tabId)}/close`], {}, z.unknown(), signal);
  }

  async #call<T>([method, path]: Route, body: object | null, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    const { token, resolve } = this.#deps;
    const headers = {
      accept: 'application/json',
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${await resolvedValue(token, resolve)}` }),
    };
    const request = { url: this.#base + path, method, headers, ...(body === null ? {} : { body: JSON.stringify(body) }) };
    const answer = await this.#http.fetch({ ...request, mayFollow: () => false }, signal).catch((cause: unknown) => {
      if (signal.aborted || (isAppError(cause) && cause.code !== 'fetch_failed')) throw cause;
      throw failed(`PinchTab does not answer at ${this.#base}.`, 'Start it, or choose the driver chromium in browser.driver.');
    });
    const json = parseJson(answer.body.toString('utf8'));
    if (answer.status >= 400) throw refusalOf(answer.status, json.ok ? json.value : null);
    const parsed = json.ok && !answer.isCut ? schema.safeParse(json.value) : null;
    if (parsed?.success !== true) throw failed(`PinchTab answered ${path.split('?', 1)[0] ?? path} with something else than expected.`);
    return parsed.data;
  }
}

function refusalOf(status: number, body: unknown): AppError {
  const { error, detail, code = '' } = errorSchema.safeParse(body).data ?? {};
  const said = (error ?? detail ?? `status ${status}`).slice(0, NAME_CHARS_MAX);
  if (/\bref\b.*not found/.test(said)) return failed('The page changed meanwhile; take a snapshot.');
  return failed(refusals[code] ?? (status === 401 ? (refusals['bad_token'] ?? said) : `PinchTab refused: ${said}`));
}

function failed(message: string, hint?: string): AppError {
  return new AppError('tool_failed', message, { hint });
}

function viewOf({ url, title, nodes }: z.infer<typeof snapshotSchema>): PageView {
  const shown = nodes.filter(({ hidden }) => hidden !== true);
  return {
    url,
    title: title.slice(0, 300),
    outline: shown.map(lineOf).join('\n'),
    elements: new Map(
      shown.map((node): [string, ViewedElement] => [node.ref, { role: node.role, name: node.name, form: formOf(node, url) }]),
    ),
    active: shown.find(({ focused }) => focused === true)?.ref ?? null,
    hosts: [URL.parse(url)?.hostname ?? ''].filter((host) => host !== ''),
  };
}

/** Formats a node like Chromium's outline: a role, a quoted name, and attributes in brackets that no name can imitate. */
function lineOf({ ref, role, name, depth, value, disabled, focused }: PageNode): string {
  const attributes = `${disabled === true ? ' [disabled]' : ''}${focused === true ? ' [active]' : ''} [ref=${ref}]`;
  const named = name === '' ? '' : ` ${JSON.stringify(name)}`;
  const holds = value === undefined || value === '' ? '' : `: ${JSON.stringify(value)}`;
  return `${'  '.repeat(Math.min(depth, DEPTH_MAX))}- ${role.replaceAll(/[^a-z]/gi, '') || 'generic'}${named}${attributes}${holds}`;
}

const fields: ReadonlySet<string> = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton']);

/** Describes an element whose form and target are unknown, by its name alone. */
function formOf({ role, name, tag = '' }: PageNode, url: string): ElementForm {
  const origin = URL.parse(url)?.origin ?? '';
  const isField = fields.has(role);
  const unknown = { type: '', url: '', isSubmit: false, isPassword: false, form: null, box: null };
  return { ...unknown, tag: role === 'link' ? 'a' : tag, words: name, isField, origin, pageOrigin: origin };
}
