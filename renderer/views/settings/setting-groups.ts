// The group of each section on the settings page, the most used first. A section without a place is among the advanced ones.

export const settingGroups = ['general', 'models', 'permissions', 'money', 'memory', 'channels', 'programs', 'advanced'] as const;
export type SettingGroup = (typeof settingGroups)[number];

const sections: Readonly<Record<Exclude<SettingGroup, 'advanced'>, readonly string[]>> = {
  general: ['appearance', 'app', 'desktop', 'workspace', 'attachments'],
  models: ['models', 'embeddings', 'context'],
  permissions: ['policy', 'sandbox', 'safety', 'secrets', 'tools'],
  money: ['budget', 'limits'],
  memory: ['memory', 'knowledge', 'skills', 'prompts'],
  channels: ['channels', 'signals', 'heartbeat', 'web'],
  programs: ['mcp', 'doors'],
};
const places = new Map(Object.entries(sections).flatMap(([group, ids]) => ids.map((id, at) => [id, { group, at }] as const)));

/** The name of a group is an address too. */
export function groupOf(section: string): SettingGroup {
  return settingGroups.find((group) => group === (places.get(section)?.group ?? section)) ?? 'advanced';
}

/** In the order of the groups, and within one as above; what has no place keeps its own. */
export function inOrder<T extends { readonly id: string }>(all: readonly T[]): readonly T[] {
  const rank = ({ id }: T): number => settingGroups.indexOf(groupOf(id)) * 100 + (places.get(id)?.at ?? 0);
  return [...all].sort((a, b) => rank(a) - rank(b));
}
