// Texts of the view of running work.

export const running = {
  now: 'Now',
  nothing: 'Nothing is running.',
  nothingAbout: 'Turns, subagents and background commands are listed here while they work.',
  queued: 'Queued',
  waiting: 'Waiting for you',
  thinking: 'Working',
  aSession: 'A session',
  open: 'Open',
  openOf: (title: string) => `Open ${title}`,
  stop: 'Stop',
  stopOf: (title: string) => `Stop ${title}`,
  answer: 'Answer',
  answerOf: (title: string) => `Answer ${title}`,
  stopped: (title: string) => `Stopped: ${title}`,
  commands: 'Background commands',
  outputOf: (command: string) => `Output of ${command}`,
  away: 'While you were away',
  next: 'Next',
} as const;
