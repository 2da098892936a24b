// The process that is killed during indexing: a real runtime with a data folder. It exits once every document is indexed and every passage
// has its vector, unless it has to stay.

import { setTimeout as rest } from 'node:timers/promises';
import { createTrayClaw } from '../../core/index.ts';

const [home = '', stays = ''] = process.argv.slice(2);
const claw = await createTrayClaw({ home });
process.stdout.write('open\n');
for (;;) {
  const { indexing, embedder } = await claw.op('knowledge.list', {});
  if (stays === '' && !indexing && (embedder.model === null || embedder.waiting === 0)) break;
  await rest(10);
}
await claw.close();
