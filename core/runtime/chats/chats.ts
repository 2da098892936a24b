// The shared parts of all chat services: pairing, strangers, approvals with buttons or codes, slash commands, and answers that are shown
// while they are written. Knows no particular service; it receives rows and events.

export { chatWords, refusalWords } from './chat-words.ts';
export { botCommands, isHarmless, readCommand, runCommand, type CommandAnswer, type CommandCall } from './commands.ts';
export { ChannelRun, toldState, type ServiceState } from './channel-run.ts';
export { trialOf } from './connect-once.ts';
export { LiveReplies } from './live-replies.ts';
export { looksLikeCode, Pairing, type PairedPeople, type PairingDeps } from './pairing.ts';
export { questionText } from './asked.ts';
export { freshMs, Questions, type QuestionDeps, type ServerQuestions } from './questions.ts';
export type { PairingRow, PeopleRows, Person, QuestionRow, QuestionRows, ServiceNames } from './records.ts';
export { download, every, fileName, readKept, tooBig } from './service-parts.ts';
export { Strangers } from './strangers.ts';
