// The data folder, the instance that runs on it and the installed browsers, as seen by a process that has opened nothing yet. Loads no
// schema, so that such a query is quick.

export { resolveHome, type HomeSources } from './data-folder.ts';
export { loadAddedPackage, type AddedPackage } from './added-packages.ts';
export { findChromiums } from './chromium-places.ts';
export { isRunning, leftFolders } from './left-folders.ts';
export { readBelow } from './read-below.ts';
export {
  readInstanceFile,
  removeInstanceFile,
  takeEndedFile,
  writeEndedFile,
  writeInstanceFile,
  type EndedRecord,
  type InstanceRecord,
} from './instance-file.ts';
export { findProgram, isExecutable, namesIn } from './programs.ts';
export { isOwnSocket, looseFolder } from './own-folder.ts';
