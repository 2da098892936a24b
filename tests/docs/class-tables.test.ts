// Checks the guide's tables of what needs approval against the tools: every action of a tool has a row with its class, and each row states
// what the gate decides. The actions come from the tools, so a new action without a row fails here.

import * as z from 'zod';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../core/base/clock.ts';
import { PanicSwitch } from '../../core/guard/panic/panic.ts';
import { createSshTools, KnownHosts, RemoteWork } from '../../core/features/ssh/ssh.ts';
import { createMachineTools } from '../../core/features/machine/machine.ts';
import {
  browserActions,
  browserArgs,
  factsOf,
  type BrowserAction,
  type ElementForm,
  type PageView,
} from '../../core/features/browser/browser.ts';
import { graveKind } from '../../core/contracts/grave-calls.ts';
import { configSchema } from '../../core/contracts/config.ts';
import type { CallFacts, ToolDefinition } from '../../core/contracts/tools.ts';
import { decideByRules } from '../../core/guard/policy/policy.ts';
import { createToolBench } from '../rigs/tool-bench.ts';
import { readDocument } from './documents.ts';

const bench = createToolBench();
afterAll(() => bench.dispose());

interface Row {
  readonly actions: readonly string[];
  readonly tools: readonly string[];
  readonly class: string;
  readonly asks: string;
}

interface Case {
  readonly tool: string;
  readonly action: string | null;
  readonly facts: CallFacts;
  /** Whether the settings list its host. */
  readonly isListed?: boolean;
}

/** The rows of the table under this heading. `hasTools` is true if it has a column for the tools. */
function rowsOf(page: string, heading: string, hasTools: boolean): Row[] {
  const table =
    readDocument(page)
      .split(heading)[1]
      ?.split('\n\n')
      .find((part) => part.startsWith('|')) ?? '';
  const code = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
  return table
    .split('\n')
    .slice(2)
    .filter(Boolean)
    .map((line) => {
      const cells = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      const [wants, tools, kind, asks = ''] = hasTools ? cells : [cells[0], '`browser`', ...cells.slice(1)];
      return { actions: code(wants), tools: code(tools), class: code(kind)[0] ?? '', asks };
    });
}

function asksOf({ tool, facts, isListed = false }: Case): string {
  const none = { rule: null, overLimit: null, grant: null, outdated: null, preApproved: null, bounds: null };
  const { decision } = decideByRules({
    ...none,
    tool,
    facts,
    panicEngaged: false,
    deniedTools: [],
    mode: 'supervised',
    taint: { session: [], derived: [], sensitive: false },
    staysInside: false,
    domainsAllowed: isListed,
  });
  if (decision === 'allow') return isListed ? 'unlisted' : 'never';
  return graveKind(facts) === null ? 'always' : 'once';
}

const says: readonly (readonly [asks: string, words: RegExp])[] = [
  ['never', /^never/],
  ['unlisted', /^for hosts that neither/],
  ['once', /^always, once for each/],
  ['always', /^always(?!, once)/],
];

/** Calls that no row describes, and rows that describe no call. */
function differences(rows: readonly Row[], cases: readonly Case[]): string[] {
  const used = new Set<Row>();
  const missing = cases.flatMap((one) => {
    const fitting = rows.filter(
      ({ tools, actions, class: kind, asks }) =>
        tools.includes(one.tool) &&
        (one.action === null || actions.length === 0 || actions.includes(one.action)) &&
        kind === one.facts.class &&
        says.some(([name, words]) => name === asksOf(one) && words.test(asks)),
    );
    for (const row of fitting) used.add(row);
    return fitting.length > 0 ? [] : [`${one.tool} ${one.action ?? ''}: ${one.facts.class}, ${asksOf(one)}`];
  });
  const stale = rows.filter((row) => row.class !== '' && !used.has(row));
  return [...missing, ...stale.map(({ tools, actions, class: kind }) => `no call is ${tools.join()} ${actions.join()} ${kind}`)];
}

const key = `SHA256:${'A'.repeat(43)}`;
const samples = {
  unit: 'nginx', user: true, since: 'today', lines: 5, bus: 1, address: 72, register: 1, length: 2, bytes: [1], device: 0,
  of: 'screen', host: 'box', command: 'uptime', path: '/srv/a', content: 'x', fingerprint: key, to: '127.0.0.1:5432', id: 'remote-1',
}; // prettier-ignore

/** Calls of each action of the tool, or of the tool itself: one with all arguments, one with only the required ones. */
function casesOf(tool: ToolDefinition): Case[] {
  const { properties = {}, required = [] } = z.toJSONSchema(tool.input, { io: 'input' }) as {
    properties?: Record<string, { enum?: string[] }>;
    required?: string[];
  };
  const actions: (string | null)[] = properties['action']?.enum ?? [null];
  const given = Object.entries(samples).filter(([name]) => name in properties);
  const calls = actions.flatMap((action) =>
    [given, given.filter(([name]) => required.includes(name))].map((entries) => ({
      action,
      args: { ...Object.fromEntries(entries), ...(action === null ? {} : { action }) },
    })),
  );
  const cases = calls.flatMap(({ action, args }) => {
    const parsed = tool.input.safeParse(args);
    return parsed.success ? [{ tool: tool.name, action, facts: tool.facts(parsed.data, bench.context()) }] : [];
  });
  for (const action of actions) expect(cases.map((one) => one.action)).toContain(action);
  return cases;
}

test('the table of machines, services, buses and the screen matches the gate', () => {
  const desktop = { platform: 'linux' as const, environment: { DISPLAY: ':0' }, find: () => '/bin/true' };
  const machine = createMachineTools(() => Promise.reject(new Error('nothing runs here')), desktop);
  const { hosts } = configSchema.parse({ ssh: { hosts: { box: { host: 'box.example', user: 'me' } } } }).ssh;
  const known = new KnownHosts(bench.home);
  const hostOf = () => hosts['box'] ?? expect.unreachable();
  known.trust(hostOf(), key);
  const ssh = createSshTools({
    names: ['box'],
    known,
    hostOf,
    artifacts: bench.artifacts,
    trusted: () => key,
    resolve: () => Promise.resolve(''),
    agent: undefined,
    work: new RemoteWork({ clock: systemClock, panic: new PanicSwitch() }),
  });
  const rows = rowsOf('docs/guide/remote.md', '# Remote machines', true);
  expect(differences(rows, [...machine, ...ssh].flatMap(casesOf))).toEqual([]);
  expect(rows.length).toBeGreaterThan(8);
});

const plain: ElementForm = {
  tag: 'button', type: 'submit', words: '', url: '', isSubmit: true, isField: false, isPassword: false,
  origin: 'https://shop.example', pageOrigin: 'https://shop.example', box: null,
  form: { method: 'post', action: 'https://shop.example/do', words: '', fields: [], hasPassword: false, hasFile: false, isSearch: false },
}; // prettier-ignore
const form = (words: string): ElementForm => ({ ...plain, words });
const elements: Readonly<Record<string, ElementForm>> = {
  link: { ...plain, tag: 'a', isSubmit: false, form: null, url: 'https://shop.example/shoes', words: 'Shoes' },
  submit: form('Go'),
  post: form('Post comment'),
  pay: form('Pay now'),
  remove: form('Delete account'),
  enter: { ...form('Sign in'), form: { ...(plain.form ?? expect.unreachable()), hasPassword: true } },
};
const view: PageView = {
  url: 'https://shop.example/',
  title: 'Shop',
  outline: '',
  elements: new Map(Object.entries(elements).map(([ref, one]) => [ref, { role: 'button', name: one.words, form: one }])),
  active: null,
  hosts: [],
};

/** The other arguments of each action. A missing action is a type error. */
const takes: Readonly<Record<BrowserAction, readonly object[]>> = {
  open: [{ url: 'https://shop.example/' }],
  snapshot: [{}],
  click: Object.keys(elements).map((ref) => ({ ref })),
  type: [{ ref: 'link', text: 'x' }],
  select: [{ ref: 'link', values: ['x'] }],
  press: [{ key: 'Tab' }],
  wait: [{}],
  scroll: [{}],
  tabs: [{}],
  back: [{}],
  upload: [{ ref: 'link', path: 'a.txt' }],
  download: [{ ref: 'link' }],
  screenshot: [{}],
  pdf: [{}],
  handover: [{}],
  close: [{}],
};

test('the table of the browser matches the gate', () => {
  const path = { given: 'a.txt', real: '/w/a.txt', access: 'read', insideWorkspace: true, protectedBy: null } as const;
  const deps = { view, refusalOf: () => null, passwordsOf: () => [], paths: { fact: () => path }, pictureOf: () => undefined };
  const cases = browserActions.flatMap((action) =>
    takes[action].map((more) => {
      const args = browserArgs.parse({ action, ...more });
      const facts = factsOf(args, deps, bench.context());
      return {
        tool: 'browser',
        action: action === 'click' && args.ref !== 'link' ? null : action,
        facts,
        isListed: facts.request?.reads === true,
      };
    }),
  );
  const rows = rowsOf('docs/guide/browser.md', '## What asks', false).map((row) => ({
    ...row,
    actions: row.actions.filter((word) => browserActions.some((action) => action === word)),
  }));
  expect(differences(rows, cases)).toEqual([]);
  expect(rows.length).toBeGreaterThan(7);
});
