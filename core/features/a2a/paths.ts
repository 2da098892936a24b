// The paths of the A2A door.

export const cardPath = '/.well-known/agent-card.json';
/** Where readers of revisions before 0.3 look for it. */
export const firstCardPath = '/.well-known/agent.json';
export const a2aPath = '/a2a';
