// TrayClaw as a library, in its usual form: durable log, real gate, streamed. Works with the bundle and with the sources.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import type * as Library from '../../../core/index.ts';
import { listedFolders } from '../model-server/replies.ts';
import { assertAnswer, type Subject, type SubjectPlace } from './subject.ts';

/** `file` is dist/index.js or core/index.ts: the same interface, bundled or not. */
export async function loadLibrary(file: string): Promise<typeof Library> {
  return (await import(pathToFileURL(file).href)) as typeof Library;
}

export async function openTrayClaw(place: SubjectPlace): Promise<Subject> {
  const { createTrayClaw, defineTool } = await loadLibrary(place.libraryFile);
  const home = join(place.folder, 'home');
  makeListedFolders(join(home, 'workspace'));
  const claw = await createTrayClaw({
    home,
    config: configFor(place),
    environment: { ...process.env, BENCH_KEY: 'bench-key-0000' },
    tools: [createLookup(defineTool)],
  });
  let sessionId: string | undefined;
  let streamed = 0;
  return {
    turn: async (text) => {
      streamed = 0;
      const result = await claw.ask(text, {
        ...(sessionId === undefined ? {} : { sessionId }),
        onText: (delta) => {
          streamed += delta.length;
        },
      });
      assertAnswer(result.text);
      if (streamed < result.text.length) throw new Error(`only ${streamed} of ${result.text.length} characters were streamed`);
      if (place.session === 'growing') sessionId = result.sessionId;
    },
    syncMs: () => claw.syncMeter().totalMs,
    close: () => claw.close(),
  };
}

function configFor(place: SubjectPlace): Library.TrayClawOptions['config'] & object {
  const kind = place.format === 'anthropic' ? 'anthropic' : 'openai-compatible';
  return {
    // A context window that fits the longest session: the peers drop no history, so TrayClaw must not either.
    providers: { bench: { kind, baseUrl: place.baseUrl, apiKey: 'env:BENCH_KEY', contextTokens: 2_000_000 } },
    models: { default: 'bench/bench' },
  };
}

function createLookup(defineTool: typeof Library.defineTool): Library.ToolDefinition {
  return defineTool({
    name: 'lookup',
    description: 'Look a key up',
    input: z.strictObject({ key: z.string(), n: z.number() }),
    class: 'read',
    idempotency: () => 'pure',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: (args) => `look up ${args.key}`,
    run: (args) => Promise.resolve({ forModel: `value-of-${args.key}` }),
  });
}

/** Creates the folders that the `list_dir` script lists. */
export function makeListedFolders(workspace: string): void {
  for (let number = 0; number < listedFolders; number++) {
    const folder = join(workspace, `folder-${number}`);
    mkdirSync(folder, { recursive: true });
    for (const name of ['a.txt', 'b.txt', 'c.txt']) writeFileSync(join(folder, name), `${name} of ${number}\n`);
  }
}
