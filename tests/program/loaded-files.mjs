// Preloaded into a program under test: records the address of every loaded file in the file that LOADED_FILES names.

import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const to = process.env['LOADED_FILES'] ?? '';
registerHooks({
  load: (url, context, next) => {
    appendFileSync(to, `${url}\n`);
    return next(url, context);
  },
});
