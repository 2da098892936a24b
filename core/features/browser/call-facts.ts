// Derives the facts of a browser call for the gate from the page as the agent last saw it. actions.ts checks the current page when the call
// runs.

import { AppError } from '../../contracts/errors.ts';
import type { CallFacts, FactContext, PathFact } from '../../contracts/tools.ts';
import type { BrowserArgs } from './arguments.ts';
import { judgeElement, judgeOpen, type ActionEffect } from './judge-action.ts';
import type { PageView, ViewedElement } from './page-view.ts';

export interface FactDeps {
  readonly view: PageView | null;
  /** Why an address may not be opened; null if it may. */
  readonly refusalOf: (url: string) => string | null;
  /** Passwords that belong to an origin. */
  readonly passwordsOf: (origin: string) => readonly string[];
  readonly paths: { fact(args: object, given: string, access: 'read', context: FactContext): PathFact };
  readonly pictureOf: (ref: string) => CallFacts['picture'];
}

const looking: ReadonlySet<string> = new Set(['snapshot', 'wait', 'scroll', 'tabs', 'screenshot', 'pdf', 'close']);
const nothing: CallFacts = { class: 'read', paths: [], command: null, hosts: [] };

export function factsOf(args: BrowserArgs, deps: FactDeps, context: FactContext): CallFacts {
  if (looking.has(args.action)) return nothing;
  if (args.action === 'handover') {
    return {
      ...nothing,
      class: 'credential',
      risks: ['You work in the window yourself; the agent waits until you close it, and sees no key you press.'],
    };
  }
  if (args.action === 'open') return openFacts(args, deps);
  const paths = args.path === undefined ? [] : [deps.paths.fact(args, args.path, 'read', context)];
  const effect = effectOf(args, deps.view);
  return actionFacts(args, deps, effect, paths);
}

export function effectOf(args: BrowserArgs, view: PageView | null): ActionEffect {
  const judged = judgeOf(args, view);
  if (args.sends !== true || !judged.reads) return judged;
  const host = hostname(view?.url ?? '');
  return { ...judged, reads: false, risks: [`It lets the page send what it wants to ${host} until the next action.`] };
}

function judgeOf(args: BrowserArgs, view: PageView | null): ActionEffect {
  const reads: ActionEffect = { reads: true, class: 'network', method: 'GET', url: null, risks: [] };
  if (args.secret !== undefined) return { ...reads, reads: false, class: 'credential', method: 'POST' };
  if (args.action === 'upload') return { ...reads, reads: false, method: 'POST', risks: ['The page gets the whole file.'] };
  if (args.action === 'back' || args.action === 'select') return reads;
  if (args.action === 'press') return judgePress(args, view);
  const element = args.ref === undefined ? undefined : view?.elements.get(args.ref);
  if (args.action === 'type') return args.submit === true ? judgeSeen(element, 'submit') : reads;
  return judgeSeen(element, 'click');
}

function judgePress(args: BrowserArgs, view: PageView | null): ActionEffect {
  const ref = args.ref ?? view?.active ?? '';
  const element = view?.elements.get(ref);
  const key = args.key ?? '';
  const isEnter = /enter|return/i.test(key);
  if (!isEnter && key !== ' ' && !/^space$/i.test(key) && !/\+/.test(key))
    return { reads: true, class: 'network', method: 'GET', url: null, risks: [] };
  return judgeSeen(element, isEnter && element?.form?.isField === true ? 'submit' : 'click');
}

/** An element that is not in the view may have any effect. */
function judgeSeen(element: ViewedElement | undefined, action: 'click' | 'submit'): ActionEffect {
  if (element?.form === null || element?.form === undefined) {
    return { reads: false, class: 'network', method: 'POST', url: null, risks: ['What this element does is not known.'] };
  }
  return judgeElement(element.form, action);
}

function openFacts(args: BrowserArgs, { refusalOf }: FactDeps): CallFacts {
  const url = URL.parse(args.url ?? '');
  if (url === null) {
    throw new AppError('invalid_arguments', `${JSON.stringify((args.url ?? '').slice(0, 100))} is not an address.`, {
      hint: 'Give a whole one, such as https://example.org/page.',
    });
  }
  const effect = judgeOpen(url.href);
  const refused = refusalOf(args.url ?? '');
  return {
    ...nothing,
    class: effect.class,
    hosts: [url.hostname],
    request: { method: 'GET', url: url.href, reads: effect.reads },
    ...(effect.reads ? { decides: [args.url ?? ''] } : {}),
    ...(refused === null ? {} : { refused }),
  };
}

function actionFacts(args: BrowserArgs, deps: FactDeps, effect: ActionEffect, paths: PathFact[]): CallFacts {
  const pageUrl = deps.view?.url ?? '';
  const to = effect.url ?? pageUrl;
  const from = effect.reads ? '' : hostname(pageUrl);
  const hosts = [...new Set([from, hostname(to)])].filter((host) => host !== '');
  const refused = passwordRefusal(args, deps) ?? (effect.url === null ? null : deps.refusalOf(effect.url));
  const base: CallFacts = {
    class: hosts.length === 0 && paths.length === 0 && effect.reads ? 'read' : effect.class,
    paths,
    command: null,
    hosts,
    ...(hosts.length === 0 ? {} : { request: { method: effect.method, url: to, reads: effect.reads } }),
    ...(refused === null ? {} : { refused }),
  };
  // A ref carries no text of the page. Typed and chosen text may come from the page.
  if (effect.reads) return { ...base, decides: [args.text, ...(args.values ?? [])].filter((text) => text !== undefined) };
  return { ...base, ...warningOf(args, deps, effect, hostname(to)) };
}

function warningOf(args: BrowserArgs, deps: FactDeps, effect: ActionEffect, host: string): Pick<CallFacts, 'risks' | 'does' | 'picture'> {
  const secrets = args.secret === undefined ? [] : [`It gives ${originOf(deps.view?.url ?? '')} the password ${args.secret}.`];
  const risks = [...effect.risks, ...secrets];
  const picture = args.ref === undefined ? undefined : deps.pictureOf(args.ref);
  return {
    does: headlineOf(args, deps.view, effect, host),
    ...(risks.length === 0 ? {} : { risks }),
    ...(picture === undefined ? {} : { picture }),
  };
}

/** Allows a password only on the origin that the settings name for it. */
function passwordRefusal({ secret, ref }: BrowserArgs, { view, passwordsOf }: FactDeps): string | null {
  if (secret === undefined) return null;
  const form = view?.elements.get(ref ?? '')?.form ?? null;
  const origin = form?.origin ?? originOf(view?.url ?? '');
  if (form !== null && form.origin !== form.pageOrigin) return 'A password is not typed into a frame of another site.';
  if (form !== null && !form.isPassword) return 'A password is typed into password fields only.';
  if (passwordsOf(origin).includes(secret)) return null;
  return `${secret} does not belong to ${origin}. A person lists it there in browser.passwords.`;
}

function headlineOf(args: BrowserArgs, view: PageView | null, effect: ActionEffect, host: string): string {
  const where = effect.url === null ? '' : `, which sends ${effect.method} to ${host}`;
  return `${capital(describeAction(args, view))} on ${hostname(view?.url ?? '') || 'a page'}${where}`;
}

type Describe = (args: BrowserArgs, what: string) => string;

const cut = (text: string | undefined, charsMax = 80): string => (text ?? '').slice(0, charsMax);
const typed = ({ secret, text }: BrowserArgs): string => (secret === undefined ? `“${cut(text)}”` : 'a password');

const described: Partial<Record<BrowserArgs['action'], Describe>> = {
  open: ({ url }) => `open ${cut(url, 200)}`,
  click: (_args, what) => `click ${what}`,
  type: (args, what) => `type ${typed(args)} into ${what}${args.submit === true ? ' and press Enter' : ''}`,
  select: ({ values = [] }, what) => `choose ${cut(values.join(', '))} in ${what}`,
  press: ({ key }, what) => `press ${cut(key)}${what === '' ? '' : ` in ${what}`}`,
  upload: ({ path }, what) => `upload ${cut(path, 100)} to ${what}`,
  download: (_args, what) => `download from ${what}`,
  handover: ({ text }) => `hand the browser over to you: ${cut(text ?? 'your turn', 200)}`,
};

/** "click the button “Send”", for sentences and lists. */
export function describeAction(args: BrowserArgs, view: PageView | null): string {
  return described[args.action]?.(args, nameOf(args.ref, view)) ?? `use the browser (${args.action})`;
}

function nameOf(ref: string | undefined, view: PageView | null): string {
  const element = ref === undefined ? undefined : view?.elements.get(ref);
  return element === undefined ? (ref ?? '') : `the ${element.role} “${cut(element.name || element.form?.words)}”`;
}

function capital(text: string): string {
  return text
    .replace(/^click/, 'Clicks')
    .replace(/^type/, 'Types')
    .replace(/^choose/, 'Chooses')
    .replace(/^press/, 'Presses')
    .replace(/^upload/, 'Uploads')
    .replace(/^download/, 'Downloads');
}

function hostname(url: string): string {
  return URL.parse(url)?.hostname ?? '';
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? '';
}
