// The gates of the browser: its network access, what pages may send, and where passwords go. Data: each gate with its removal and the tests
// that must fail without it.

import type { Gate } from '../gate.ts';

const guard = 'core/features/browser/page-guard.ts';
const suites = ['tests/program/browser-cases.test.ts'];
const own = ['core/features/browser/browser.test.ts'];

export const browserGates: readonly Gate[] = [
  {
    name: 'browser/proxy',
    prevents: 'a page reaches the network around the checks',
    file: 'core/features/browser/checking-proxy.ts',
    text: "if (verdict.decision === 'deny') return this.#note(url, `. ${verdict.reason}`);",
    instead: '',
    suites,
    only: 'cannot be opened',
  },
  {
    name: 'browser/held-sends',
    prevents: 'a page sends what nobody approved after the agent acted on it',
    file: guard,
    text: 'if (!isPageNavigation && pageHost === host && !this.#touched.has(pageHost)) return null;',
    instead: 'if (pageHost === host) return null;',
    suites: own,
    only: 'blocks other requests',
  },
  {
    name: 'browser/other-hosts',
    prevents: 'a page takes the agent to a host that was not allowed',
    file: guard,
    text: 'if (isPageNavigation && !this.mayShow(url))',
    instead: 'if (isPageNavigation && url === pageUrl)',
    suites: own,
    only: 'asks for unlisted hosts',
  },
  {
    name: 'browser/acted-on-first',
    prevents: 'what a page sends while the first action on it still runs is sent as for a visitor',
    file: 'core/features/browser/actions.ts',
    text: 'deps.host.guard.touch(page.url());\n    await press(element);',
    instead: 'await press(element);\n    deps.host.guard.touch(page.url());',
    suites: own,
    only: 'what a page sends before the first',
  },
  {
    name: 'browser/changed-page',
    prevents: 'an approved action does something else, because the page changed meanwhile',
    file: 'core/features/browser/actions.ts',
    text: 'if (!isSame(args, view, now)) throw changedError(args, view);',
    instead: '',
    suites: own,
    only: 'changed after the decision',
  },
  {
    name: 'browser/password-origin',
    prevents: 'a password is typed into a page of another origin',
    file: 'core/features/browser/call-facts.ts',
    text: 'if (passwordsOf(origin).includes(secret)) return null;',
    instead: "if (secret !== '') return null;",
    suites: own,
    only: 'types a password only',
  },
  {
    name: 'browser/password-shown',
    prevents: 'the outline of a page shows a password that was typed',
    file: 'core/features/browser/page-view.ts',
    text: 'outline: withoutPasswords(outline, elements),',
    instead: 'outline,',
    suites: own,
    only: 'types a password only',
  },
  {
    name: 'browser/dialogs',
    prevents: 'a question of a page is answered yes without a yes of a person',
    file: 'core/features/browser/browser-host.ts',
    text: "const yes = kind === 'alert' || kind === 'beforeunload' || this.#answersYes;",
    instead: 'const yes = true;',
    suites: own,
    only: 'dismisses dialogs',
  },
  {
    name: 'browser/effects-ask',
    prevents: 'a form is submitted without a question',
    file: 'core/features/browser/judge-action.ts',
    text: "if (form !== null && (element.isSubmit || action === 'submit')) return judgeForm(element, form);",
    instead: '',
    suites: ['core/features/browser/judge-action.test.ts'],
  },
  {
    name: 'browser/pinchtab-errors',
    prevents: 'what PinchTab says of a page in an error is taken for its own words',
    file: 'core/features/browser/pinchtab-tool.ts',
    text: 'withSources(cause, this.#hosts)',
    instead: 'cause',
    suites: ['core/features/browser/pinchtab.test.ts'],
    only: 'errors are untrusted',
  },
  {
    name: 'browser/pinchtab-unseen',
    prevents: 'an error about a page that PinchTab opened but could not show is unmarked',
    file: 'core/features/browser/pinchtab-tool.ts',
    text: "this.#hosts = [hostOf(args.url ?? '')];",
    instead: '',
    suites: ['core/features/browser/pinchtab.test.ts'],
    only: 'errors are untrusted',
  },
  {
    name: 'browser/panic',
    prevents: 'the browser starts while everything is stopped',
    file: 'core/features/browser/browser-host.ts',
    text: "if (panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped, so no browser starts.');",
    instead: '',
    suites: own,
    only: 'panic stop',
  },
];
