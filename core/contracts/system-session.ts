// The one session that is no conversation. Without a schema, so that the window can know it.

/** The session for events outside conversations: panic, grants, boots, deletions. */
export const systemSessionId = 'system';

/** The prefix of subagent sessions; no other session may have it. */
export const helperSessionPrefix = 'hlp_';
