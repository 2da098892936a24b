// For tests only: a program with a scripted model and a trusted folder of a person.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { ScriptedModel, type Rule } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

export async function openProject(rules: readonly Rule[] = [{ answer: { text: 'seen' } }], more: ConfigInput = {}) {
  const model = await ScriptedModel.start(rules);
  const home = new TestHome();
  const claw = await home.open({ config: { ...model.config('openai'), ...more } });
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  const project = home.project();
  const put = (name: string, text: string, folder = project): void => writeFileSync(join(folder, name), text);
  await claw.op('workspace.trust', { path: project });
  return { claw, home, model, project, put, shown: () => JSON.stringify(model.requests.at(-1)?.body) };
}
