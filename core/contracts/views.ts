// The views of the window, named once: its routes, icons, commands, deep links and what the shell can ask it to show come from this list.

/** In the order of the navigation and of their keys. */
export const viewNames = [
  'chat',
  'activity',
  'approvals',
  'memory',
  'schedules',
  'agents',
  'skills',
  'artifacts',
  'settings',
  'health',
] as const;
export type ViewName = (typeof viewNames)[number];
