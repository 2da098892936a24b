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

const links: Readonly<Record<string, (words: HealthWords) => { href: string; name: string }>> = {
  workspace: (words) => ({ href: hrefOf('settings', 'workspace'), name: words.openSettings }),
  provider: (words) => ({ href: hrefOf('settings', 'models'), name: words.openSettings }),
  route: (words) => ({ href: hrefOf('settings', 'models'), name: words.openSettings }),
  model: (words) => ({ href: hrefOf('settings', 'models'), name: words.openModels }),
  budget: (words) => ({ href: hrefOf('settings', 'budget'), name: words.openSettings }),
  outcomes: (words) => ({ href: hrefOf('approvals'), name: words.openApprovals }),
  secrets: (words) => ({ href: hrefOf('settings', 'secrets'), name: words.openSecrets }),
  sandbox: (words) => ({ href: hrefOf('settings', 'sandbox'), name: words.openSettings }),
  config: (words) => ({ href: hrefOf('settings', 'file'), name: words.openFile }),
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
  return { title, meaning: own(meanings) ?? '', link: own(links)?.(words) ?? null, canReleasePanic: kind === 'panic' };
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
