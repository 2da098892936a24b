// A program brings its own memories along: they are recalled beside those kept here, as words of others, and never written.

import { expect, onTestFinished, test } from 'vitest';
import type { MemorySource } from '../../core/index.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

const notes = new Map([
  ['n1', 'The garage code changes on Mondays.'],
  ['n2', 'Otto repairs the bikes.'],
]);

/** As somebody outside would write it: by the exported types alone. */
const notebook: MemorySource = {
  name: 'notebook',
  recall: ({ text, limit }) => {
    const asked = text.toLowerCase().split(/\W+/);
    const found = [...notes].filter(([, note]) => asked.some((word) => word.length > 3 && note.toLowerCase().includes(word)));
    return Promise.resolve(found.slice(0, limit).map(([id, note]) => ({ id, text: note, score: 0.9 })));
  },
};

async function open(...memorySources: MemorySource[]) {
  const model = await ScriptedModel.start([{ answer: { text: 'hello' } }]);
  const home = new TestHome();
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  return { claw: await home.open({ config: model.config('openai'), memorySources }), model };
}

test('a source is recalled beside the own memory, and the model is told whose words they are', async () => {
  const { claw, model } = await open(notebook);
  await claw.op('memory.add', { text: 'The garage is painted green.' });
  const { hits } = await claw.op('memory.recall', { query: 'garage' });
  expect(hits.map(({ memoryId, text, foundBy }) => [memoryId.split(/[:_]/)[0], text, foundBy])).toEqual(
    expect.arrayContaining([
      ['mem', 'The garage is painted green.', ['words']],
      ['notebook', 'The garage code changes on Mondays.', ['source']],
    ]),
  );
  const { sessionId } = await claw.ask('when does the garage code change?');
  expect(JSON.stringify(model.requests.at(-1))).toContain('The garage code changes on Mondays.');
  const { events } = await claw.op('session.get', { sessionId });
  expect(JSON.stringify(events.find(({ type }) => type === 'pack.built')?.body)).toContain('{"kind":"mcp","where":"notebook"}');
  await expect(claw.op('memory.forget', { memoryId: 'notebook:n1' })).rejects.toMatchObject({ code: 'not_found' });
  expect((await claw.op('memory.list', {})).memories).toHaveLength(1);
});

test('a source that fails, hangs or throws at once takes nothing from the others', async () => {
  let stopped = false;
  const failing: MemorySource = { name: 'failing', recall: () => Promise.reject(new Error('gone')) };
  const throwing: MemorySource = {
    name: 'throwing',
    recall: () => {
      throw new Error('at once');
    },
  };
  const hanging: MemorySource = {
    name: 'hanging',
    recall: (_query, signal) =>
      new Promise((resolve) => {
        const stop = (): void => {
          stopped = true;
          resolve([]);
        };
        signal.addEventListener('abort', stop, { once: true });
      }),
  };
  const { claw } = await open(failing, throwing, hanging, notebook);
  expect((await claw.op('memory.recall', { query: 'bikes' })).hits.map(({ memoryId }) => memoryId)).toEqual(['notebook:n2']);
  expect(stopped).toBe(true);
});

test('two sources of one name are refused at the start', async () => {
  await expect(open(notebook, { ...notebook })).rejects.toMatchObject({ code: 'invalid_config' });
});
