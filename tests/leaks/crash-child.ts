// Serves like the program, then throws an uncaught error that contains a known secret. `bare` removes the program's own crash report.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProcess } from '../../main/cli-process.ts';

const [how, home] = process.argv.slice(2);
if (home === undefined) throw new Error('usage: crash-child.ts report|bare HOME');
void runProcess(['serve', '--home', home], { version: 'test', packageRoot: new URL('../../', import.meta.url) });
const looking = setInterval(() => {
  // Once a server listens, the runtime exists.
  if (!process.getActiveResourcesInfo().includes('TCPServerWrap')) return;
  clearInterval(looking);
  if (how === 'bare') process.removeAllListeners('uncaughtException');
  writeFileSync(join(home, 'crashing'), '');
  throw new Error(`the server refused ${process.env['LAB_API_TOKEN'] ?? ''}`);
}, 20);
