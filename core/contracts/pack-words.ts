// How a pack describes itself in the log: the order of its sections, the names of omitted parts, and the reasons. Plain data: the packer
// writes these texts, and the window maps them to its own. Texts that are in existing logs must not change.

/** In the order of the request. The tools are separate. */
export const packSectionOrder = [
  'system',
  'identity',
  'rules',
  'task',
  'messages',
  'about_material',
  'project',
  'memory',
  'knowledge',
  'skill_cards',
  'skill_excerpt',
  'approvals',
  'tools',
] as const;
export type PackSectionName = (typeof packSectionOrder)[number];

/** Things that are dropped from a section singly or as a group. Anything else that is dropped is named after its section. */
export const packThings = {
  rule: 'a pinned rule',
  tools: 'tools',
  approval: 'an open approval',
  oldest: 'oldest messages',
  steps: 'oldest steps of the turn',
} as const;
export type PackThing = keyof typeof packThings;

export const packReasons = {
  share: 'the budget of its section',
  rules: 'the window of this model is too small for all pinned rules',
  tools: 'the window of this model is too small for all tools',
  toolCount: 'a request takes no more tools',
  late: 'it was not ready in time',
  stopped: 'the turn was stopped',
  failed: 'it failed',
  foreign: 'words of others may not instruct',
  refused: 'the model refused a larger pack',
  whole: 'the token budget of the pack',
} as const;
export type PackReason = keyof typeof packReasons;

/** Appended to a reason after a semicolon. */
export const packAddenda = {
  unsummed: 'no summary covers them yet',
  last: 'nothing else was left to cut',
} as const;
export type PackAddendum = keyof typeof packAddenda;
