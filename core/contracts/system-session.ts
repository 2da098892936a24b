// Sessions that are not conversations. Free of schemas, so that the window can use it.

/** The session for events outside conversations: panic, grants, boots, deletions. */
export const systemSessionId = 'system';

/** The beginnings of the ids that the program itself gives to sessions. No caller may begin a session with such an id. */
export const ownSessions = {
  helper: 'hlp_',
  task: 'a2a_',
  client: 'api_',
  signal: 'signal-',
  heartbeat: 'heartbeat-',
  schedule: 'schedule-',
  work: 'work-',
} as const;

export function isOwnSessionId(sessionId: string): boolean {
  return sessionId === systemSessionId || Object.values(ownSessions).some((prefix) => sessionId.startsWith(prefix));
}

/** The channel of calls that save an answer of the model. Their arguments are not words of a person. */
export const answerChannel = 'answer';

/** The channels of sessions without a person. */
export const ownChannels = { helper: 'helper', eval: 'eval', pipeline: 'pipeline' } as const;
