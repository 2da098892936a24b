// A GGUF file as the model of the desktop app: the engine runs as a utility process, because the app cannot start a script as Node does.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { installEngineDouble } from '../doubles/engine/knobs.ts';
import { scriptedGguf } from '../doubles/gguf.ts';
import { needs } from '../needs.ts';
import { DesktopUnderTest } from './desktop-rig.ts';

test('a GGUF file answers in the window, and its process ends with the app', needs('Linux'), async () => {
  const providers = { mine: { kind: 'embedded', file: 'model.gguf', threads: 1, contextTokens: 65_536 } } as const;
  const app = await DesktopUnderTest.prepare({ config: { providers, models: { default: 'mine/model' } } });
  onTestFinished(() => app.close());
  installEngineDouble(app.home, { tokenMs: 1 });
  writeFileSync(join(app.home, 'model.gguf'), scriptedGguf({ say: ['-'], call: ['From', ' the', ' engine', '.'] }));
  await app.launch();
  await app.usable();
  await app.send('Hi');
  await app.expectSaid('From the engine.');
  expect(await app.quit()).toBe(0);
});
