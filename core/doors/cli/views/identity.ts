// Views of identities and prompt files, with their versions.

import type { CapsuleVersion, PromptListing } from '../../../contracts/features/identity.ts';
import type { OpResult } from '../../../contracts/ops.ts';
import { listed, tabled, type ViewsOf } from '../kernel/view.ts';
import { facts, when } from '../table.ts';

export const identityViews: ViewsOf<'identity'> = {
  'identity.get': {
    show: (version) => `${describeVersion(version)}\n\n${version.text === '' ? 'Nothing is said of it.' : version.text}`,
  },
  'identity.set': {
    // A single empty string clears the list.
    params: ({ constraints, prompts, ...others }) => ({ ...others, ...worded({ constraints, prompts }) }),
    show: describeVersion,
  },
  'identity.versions': listed(
    'versions',
    {
      VERSION: 'version',
      WHEN: 'atMs',
      BY: 'by',
      RISK: ({ capsule }) => capsule.risk,
      '': ({ reverts, note, capsule }) =>
        [reverts === null ? '' : `version ${reverts} again.`, note ?? capsule.role ?? ''].join(' ').trim(),
    },
    'This agent has no identity yet.',
  ),
  'identity.diff': { show: describeDiff },
  'identity.revert': { show: describeVersion },
};

export const promptViews: ViewsOf<'prompt'> = {
  'prompt.list': { json: ({ prompts }) => prompts, show: ({ prompts }) => describePrompts(prompts) },
  'prompt.versions': listed(
    'versions',
    { VERSION: 'version', WHEN: 'atMs', BY: ({ by }) => by ?? 'outside the program', FROM: ({ url }) => url ?? 'here' },
    'There are no versions.',
  ),
  'prompt.diff': { show: describeDiff },
  'prompt.set': {
    params: async ({ name = '' }, { given: { file = '-' }, context }) => ({ name, text: await context.readText(String(file)) }),
    show: (prompt) => describePrompts([prompt]),
  },
  'prompt.refresh': {
    json: ({ prompts }) => prompts,
    show: ({ prompts }) => describePrompts(prompts, 'No prompt has an address to refresh from. Set one: prompts.NAME.url'),
  },
  'prompt.accept': { show: (prompt) => describePrompts([prompt]) },
};

function worded(lists: Readonly<Record<string, readonly string[] | undefined>>): Record<string, string[]> {
  const given = Object.entries(lists).flatMap(([name, words]) => (words === undefined ? [] : [[name, words] as const]));
  return Object.fromEntries(given.map(([name, words]) => [name, words.filter((one) => one.trim() !== '')]));
}

function describeVersion({ agentId, version, capsule, atMs, by, note }: CapsuleVersion): string {
  return facts([
    ['agent', agentId],
    ['version', version === 0 ? 'none yet' : `${version}, ${when(atMs)} by ${by}`],
    ['risk', capsule.risk],
    ['prompts', capsule.prompts.join(' ') || 'none'],
    ...(note === null ? [] : [['note', note] as const]),
  ]);
}

function describeDiff({ from, to, lines }: OpResult<'identity.diff'>): string {
  if (to === 0) return 'There are no versions yet.';
  const signs = { same: ' ', added: '+', removed: '-' } as const;
  const shown = lines.map(({ kind, text }) => `${signs[kind]} ${text}`.trimEnd());
  return [`version ${from} to ${to}`, ...(shown.length === 0 ? ['The same.'] : shown)].join('\n');
}

function describePrompts(prompts: readonly PromptListing[], none = 'There are no prompts.'): string {
  const state = ({ incoming, problem, about }: PromptListing): string =>
    incoming === null ? (problem ?? about ?? '') : `waits for a yes: trayclaw prompts accept NAME ${incoming.sha256}`;
  const from = ({ url, version }: PromptListing): string => (version === 0 ? 'built in' : (url ?? 'here'));
  return tabled(prompts, { PROMPT: 'name', VERSION: 'version', FROM: from, '': state }, none);
}
