// Runs in the child process of utilityProcess.fork: gives the script `process.parentPort`, and no other connection to its parent.

import { EventEmitter } from 'node:events';
import { pathToFileURL } from 'node:url';

const [, own, script = ''] = process.argv;
const send = process.send?.bind(process);
const waiting: unknown[] = [];

/** Keeps messages until the script listens. */
class ParentPort extends EventEmitter {
  postMessage(message: unknown): void {
    send?.(message);
  }

  override on(event: string, listener: (event: { data: unknown }) => void): this {
    super.on(event, listener);
    for (const data of waiting.splice(0)) this.emit('message', { data, ports: [] });
    return this;
  }
}

const parentPort = new ParentPort();
process.on('message', (data) => {
  if (parentPort.listenerCount('message') === 0) waiting.push(data);
  else parentPort.emit('message', { data, ports: [] });
});
process.once('disconnect', () => process.exit());
Object.assign(process, { parentPort, send: undefined });
process.argv.splice(process.argv.indexOf(own ?? ''), 1);
await import(pathToFileURL(script).href);
