// The fix for a failed check: a place in the window, an action, or a command to type. Pure.

import type { Words } from '../../lib/i18n/words.ts';
import { hrefOf } from '../../lib/state/route.svelte.ts';

type HealthWords = Words['health'];

export interface Guide {
  readonly title: string;
  readonly meaning: string;
  readonly link: { readonly href: string; readonly name: string } | null;
  readonly canReleasePanic: boolean;
}

type Place = readonly [name: keyof HealthWords['links'], ...Parameters<typeof hrefOf>];

const setting = (section: string): Place => ['setting', 'settings', section];
const unfinished: Place = ['unfinished', 'health', 'unfinished'];
const schedules: Place = ['schedules', 'schedules'];

/** Where in the window the advice of a check is carried out. */
const places: Readonly<Record<string, Place>> = {
  workspace: setting('workspace'),
  provider: setting('models'),
  route: setting('models'),
  model: ['models', 'settings', 'models'],
  engine: setting('models'),
  'model-file': setting('models'),
  budget: setting('budget'),
  outcomes: ['approvals', 'approvals'],
  secrets: ['secrets', 'settings', 'secrets'],
  sandbox: setting('sandbox'),
  config: ['file', 'settings', 'file'],
  'dead-letters': unfinished,
  outbox: unfinished,
  schedules,
  heartbeat: schedules,
  mcp: setting('mcp'),
  doors: setting('doors'),
  telegram: setting('channels'),
  'channel-discord': setting('channels'),
  telemetry: setting('telemetry'),
  browser: setting('browser'),
  verifier: setting('verify'),
};

/**
 * The words of the check itself, else those of its first part with the rest behind: `provider.lab` is "Model server: lab". Checks of the
 * configuration are numbered.
 */
export function guideOf(id: string, words: HealthWords): Guide {
  const kind = id.replace(/\.\d+$/, '');
  const [head = '', ...rest] = kind.split('.');
  const titles: Readonly<Record<string, string>> = words.titles;
  const meanings: Readonly<Record<string, string>> = words.meanings;
  const own = <T>(record: Readonly<Record<string, T>>): T | undefined => [kind, head].map((key) => ownOf(record, key)).find(isGiven);
  const title = ownOf(titles, kind) ?? [ownOf(titles, head) ?? capitalised(head), rest.join(' ')].filter(isGiven).join(': ');
  return { title, meaning: own(meanings) ?? '', link: linkOf(own(places), words), canReleasePanic: kind === 'panic' };
}

function linkOf(place: Place | undefined, words: HealthWords): Guide['link'] {
  if (place === undefined) return null;
  const [name, ...where] = place;
  return { href: hrefOf(...where), name: words.links[name] };
}

function ownOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function isGiven<T>(value: T | undefined): value is T {
  return value !== undefined && value !== '';
}

function capitalised(id: string): string {
  return `${id.slice(0, 1).toUpperCase()}${id.slice(1).replaceAll('-', ' ')}`;
}

/** Splits a text into the part before a command, and the command; null if there is no command. */
export function splitCommand(fix: string): { readonly text: string; readonly command: string | null } {
  const at = fix.search(/\btrayclaw [a-z]/);
  if (at === -1) return { text: fix, command: null };
  const [command = ''] = fix.slice(at).split(/[,;.](?:\s|$)/);
  const rest = fix.slice(at + command.length).replace(/^[,;.]\s*/, '');
  return { text: [fix.slice(0, at).trim(), rest].filter((part) => part !== '').join(' '), command: command.trim() };
}
