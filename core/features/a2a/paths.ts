// The paths of the A2A door.

export const cardPath = '/.well-known/agent-card.json';
export const a2aPath = '/a2a';
