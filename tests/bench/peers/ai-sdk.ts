// Vercel's AI SDK as a peer: its own loop over generateText or streamText; the caller keeps the history in an array. Stores nothing on
// disk.

import * as z from 'zod';
import { assertAnswer, systemText, type OpenSubject, type SubjectPlace } from '../subjects/subject.ts';
import { importFromPeer, type PeerPackages } from './peer-folder.ts';

export const aiSdkPackages: PeerPackages = {
  name: 'ai-sdk',
  dependencies: { '@ai-sdk/openai-compatible': '3.0.92', ai: '7.0.173', zod: '4.6.7' },
};

interface Request {
  readonly model: unknown;
  readonly tools: object;
  readonly instructions: string;
  readonly messages: readonly unknown[];
  readonly stopWhen: unknown;
}

interface Generated {
  readonly text: string | Promise<string>;
  readonly response: Answer | Promise<Answer>;
}

interface Answer {
  readonly messages: readonly unknown[];
}

interface Ai {
  generateText(request: Request): Promise<Generated>;
  streamText(request: Request): Generated & { readonly textStream: AsyncIterable<string> };
  isStepCount(count: number): unknown;
  tool(definition: object): unknown;
}

interface OpenAiCompatible {
  createOpenAICompatible(options: object): (model: string) => unknown;
}

const STEPS_MAX = 20;

export const openGenerateText: OpenSubject = (place) =>
  openAiSdk(place, async (ai, request) => {
    return ai.generateText(request);
  });

export const openStreamText: OpenSubject = (place) =>
  openAiSdk(place, async (ai, request) => {
    const streamed = ai.streamText(request);
    let length = 0;
    for await (const delta of streamed.textStream) length += delta.length;
    if (length === 0) throw new Error('nothing was streamed');
    return streamed;
  });

async function openAiSdk(place: SubjectPlace, run: (ai: Ai, request: Request) => Promise<Generated>): ReturnType<OpenSubject> {
  const importHere = await importFromPeer(aiSdkPackages.name);
  const ai = await importHere<Ai>('ai');
  const compatible = await importHere<OpenAiCompatible>('@ai-sdk/openai-compatible');
  const model = compatible.createOpenAICompatible({ name: 'bench', baseURL: place.baseUrl, apiKey: 'x', includeUsage: true })('bench');
  const lookup = ai.tool({
    description: 'Look a key up',
    inputSchema: z.object({ key: z.string(), n: z.number() }),
    execute: ({ key }: { key: string }) => Promise.resolve(`value-of-${key}`),
  });
  const settings = { model, tools: { lookup }, instructions: systemText, stopWhen: ai.isStepCount(STEPS_MAX) };
  let messages: unknown[] = [];
  return {
    turn: async (text) => {
      if (place.session === 'fresh') messages = [];
      messages.push({ role: 'user', content: text });
      const generated = await run(ai, { ...settings, messages });
      assertAnswer(await generated.text);
      messages.push(...(await generated.response).messages);
    },
    syncMs: () => 0,
    close: () => Promise.resolve(),
  };
}
