// The data folder as other processes meet it: where it lies, and who runs on it. Loads no schema, so that what only asks for these is quick.

export { resolveHome, type HomeSources } from './data-folder.ts';
export { readInstanceFile, removeInstanceFile, writeInstanceFile, type InstanceRecord } from './instance-file.ts';
export { isOwnSocket, looseFolder } from './own-folder.ts';
