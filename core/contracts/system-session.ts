// The sessions that are no conversations. Without a schema, so that the window can know it.

/** The session for events outside conversations: panic, grants, boots, deletions. */
export const systemSessionId = 'system';

/** The prefix of subagent sessions; no other session may have it. */
export const helperSessionPrefix = 'hlp_';

/** The channels of sessions that no person talks in. */
export const ownChannels = { helper: 'helper', eval: 'eval', pipeline: 'pipeline' } as const;
