// The group of each section on the settings page, most used first. Other sections are advanced, after those that are listed.

export const settingGroups = ['general', 'models', 'permissions', 'money', 'memory', 'channels', 'programs', 'advanced'] as const;
export type SettingGroup = (typeof settingGroups)[number];

const sections: Readonly<Record<SettingGroup, readonly string[]>> = {
  general: ['appearance', 'app', 'desktop', 'workspace', 'attachments'],
  models: ['models', 'embeddings', 'context'],
  permissions: ['policy', 'sandbox', 'safety', 'secrets', 'tools'],
  money: ['budget', 'limits'],
  memory: ['memory', 'knowledge', 'skills', 'prompts'],
  channels: ['channels', 'signals', 'heartbeat', 'web'],
  programs: ['mcp', 'doors'],
  advanced: ['agents', 'helpers'],
};
const places = new Map(Object.entries(sections).flatMap(([group, ids]) => ids.map((id, at) => [id, { group, at }] as const)));

/** The name of a group is also an address. */
export function groupOf(section: string): SettingGroup {
  return settingGroups.find((group) => group === (places.get(section)?.group ?? section)) ?? 'advanced';
}

/** Ordered by group, and within a group as above; sections without a position keep their order. */
export function inOrder<T extends { readonly id: string }>(all: readonly T[]): readonly T[] {
  const rank = ({ id }: T): number => settingGroups.indexOf(groupOf(id)) * 100 + (places.get(id)?.at ?? 99);
  return [...all].sort((a, b) => rank(a) - rank(b));
}
