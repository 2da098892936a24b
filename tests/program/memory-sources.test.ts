// An embedding program provides memories: they are recalled together with the built-in ones, as untrusted content; its store receives kept
// memories.

import { expect, onTestFinished, test } from 'vitest';
import type { MemorySource, RememberedText } from '../../core/index.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { TestHome } from '../faults/test-home.ts';

const notes = new Map([
  ['n1', 'The garage code changes on Mondays.'],
  ['n2', 'Otto repairs the bikes.'],
]);

/** Written as an external developer would, with the exported types alone. */
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
  const config = model.config('openai');
  return { claw: await home.open({ config, memorySources }), model, home, config };
}

test('a source is recalled with the built-in memory, and the model sees each origin', async () => {
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

test('a source that fails, hangs or throws does not affect the others', async () => {
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

test('two sources with the same name are refused at the start', async () => {
  await expect(open(notebook, { ...notebook })).rejects.toMatchObject({ code: 'invalid_config' });
});

/** A store as an external developer would write it: it keeps what it receives, under its own ids. */
function storeOf(kept: Map<string, RememberedText>, failing: { times: number } = { times: 0 }): MemorySource {
  return {
    name: 'archive',
    recall: () => Promise.resolve([...kept.values()].map(({ id, text }) => ({ id, text, score: 0.9 }))),
    remember: (memory) => {
      failing.times -= 1;
      if (failing.times >= 0) return Promise.reject(new Error('the archive is closed'));
      kept.set(memory.id, memory);
      return Promise.resolve();
    },
    forget: (id) => {
      kept.delete(id);
      return Promise.resolve();
    },
  };
}

test('a store receives kept memories, not candidates, and learns of forgotten ones', { timeout: 30_000 }, async () => {
  const kept = new Map<string, RememberedText>();
  const { claw } = await open(storeOf(kept));
  const added = await claw.op('memory.add', { text: 'The garage is painted green.', kind: 'fact' });
  const entry = JSON.stringify({ kind: 'fact', text: 'Otto repairs the bikes.' });
  await claw.op('memory.import', { text: entry, state: 'candidate' });
  await until(() => Promise.resolve(kept.size === 1), 'the memory is handed over');
  expect(kept.get(added.memoryId)).toMatchObject({
    id: added.memoryId,
    text: 'The garage is painted green.',
    kind: 'fact',
    scope: 'shared',
    untrusted: [],
  });
  const { hits } = await claw.op('memory.recall', { query: 'garage' });
  expect(hits.map(({ memoryId }) => memoryId)).toEqual([added.memoryId]);

  const [candidate] = (await claw.op('memory.list', { state: 'candidate' })).memories;
  await claw.op('memory.promote', { memoryId: candidate?.memoryId ?? '' });
  await until(() => Promise.resolve(kept.size === 2), 'the accepted one is handed over');
  expect(kept.get(candidate?.memoryId ?? '')?.untrusted).toEqual([{ kind: 'file', where: 'an imported file' }]);
  await claw.op('memory.forget', { memoryId: added.memoryId });
  await until(() => Promise.resolve(kept.size === 1), 'the store is told');
  expect([...kept.values()].map(({ text }) => text)).toEqual(['Otto repairs the bikes.']);
});

test('a store that is added later or fails at first receives everything, once', { timeout: 40_000 }, async () => {
  const { claw, home, config } = await open();
  await claw.op('memory.add', { text: 'The garage is painted green.' });
  await home.close(claw);
  const kept = new Map<string, RememberedText>();
  const failing = { times: 1 };
  const later = await home.open({ config, memorySources: [storeOf(kept, failing)] });
  await later.op('memory.add', { text: 'Otto repairs the bikes.' });
  await until(() => Promise.resolve(kept.size === 2), 'both are handed over');
  expect([...kept.values()].map(({ text }) => text)).toEqual(['The garage is painted green.', 'Otto repairs the bikes.']);
  await home.close(later);
  kept.clear();
  const again = await home.open({ config, memorySources: [storeOf(kept)] });
  await again.op('memory.add', { text: 'The cat is called Tom.' });
  await until(() => Promise.resolve(kept.size > 0), 'the newest is handed over');
  expect([...kept.values()].map(({ text }) => text)).toEqual(['The cat is called Tom.']);
});
