// The views of the window. Routes, icons, commands, deep links and the shell's commands come from this list.

/** In the order of the navigation and of the keyboard shortcuts. */
export const viewNames = [
  'chat',
  'running',
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
