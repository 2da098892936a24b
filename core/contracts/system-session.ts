// Sessions that are not conversations. Free of schemas, so that the window can use it.

/** The session for events outside conversations: panic, grants, boots, deletions. */
export const systemSessionId = 'system';

/** The prefix of subagent sessions. No other session may use it. */
export const helperSessionPrefix = 'hlp_';

/** The channels of sessions without a person. */
export const ownChannels = { helper: 'helper', eval: 'eval', pipeline: 'pipeline' } as const;
