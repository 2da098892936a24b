// A data folder and a scripted model for each test of a file, both removed after it.

import { beforeEach } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from './test-home.ts';

interface Made {
  readonly home: TestHome;
  readonly model: ScriptedModel;
}

export function eachTest(take: (made: Made) => void): void {
  beforeEach(async () => {
    const made = { home: new TestHome(), model: await ScriptedModel.start() };
    take(made);
    return async () => {
      await made.home.dispose();
      await made.model.close();
    };
  });
}
