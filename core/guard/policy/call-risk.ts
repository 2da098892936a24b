// Describes the risk of a call to the person who decides about it.

import { onlyChangesFiles, readsOf, type CallFacts, type ToolClass } from '../../contracts/tools.ts';

const risks: Readonly<Record<ToolClass, string>> = {
  read: 'It shows the model what it reads; nothing is changed.',
  write: 'It creates or changes these files.',
  exec: 'It can run any code with your rights: change or delete files, use the network.',
  network: 'What it sends leaves this machine.',
  message: 'A sent message cannot be recalled.',
  spend: 'Money spent may not come back.',
  credential: 'Anyone with these credentials can act as you.',
  hardware: 'It can disturb or damage attached devices.',
  destructive: 'What it destroys may not come back.',
};

/** A command that is known to read, or to change the files among its paths, and to do nothing else is described like a tool that does. */
export function riskOf(facts: CallFacts, kind: ToolClass): string {
  const { command, risks: told = [] } = facts;
  if (told.length > 0) return told.join(' ');
  if (kind !== 'exec' || command === null) return risks[kind];
  if (onlyChangesFiles(facts)) return risks.write;
  return readsOf(command) === null ? risks.exec : risks.read;
}
