// Strands as a peer, with its whole history kept. In growing sessions its session is in files, written once per invocation (its default).

import * as z from 'zod';
import { assertAnswer, systemText, type OpenSubject } from '../subjects/subject.ts';
import { importFromPeer, type PeerPackages } from './peer-folder.ts';

export const strandsPackages: PeerPackages = {
  name: 'strands',
  dependencies: { '@strands-agents/sdk': '1.19.0', openai: '6.49.0', zod: '4.6.7' },
};

interface Agent {
  readonly messages: unknown[];
  invoke(text: string): Promise<{ readonly lastMessage: { readonly content: readonly { readonly text?: string }[] } }>;
}

interface Strands {
  readonly Agent: new (options: object) => Agent;
  readonly SessionManager: new (options: object) => unknown;
  readonly NullConversationManager: new () => unknown;
  readonly FileStorage: new (folder: string) => unknown;
  tool(definition: object): unknown;
}

interface StrandsOpenAi {
  readonly OpenAIModel: new (options: object) => unknown;
}

export const openStrands: OpenSubject = async (place) => {
  const importHere = await importFromPeer(strandsPackages.name);
  const strands = await importHere<Strands>('@strands-agents/sdk');
  const { OpenAIModel } = await importHere<StrandsOpenAi>('@strands-agents/sdk/models/openai');
  const lookup = strands.tool({
    name: 'lookup',
    description: 'Look a key up',
    inputSchema: z.object({ key: z.string(), n: z.number() }),
    callback: ({ key }: { key: string }) => Promise.resolve(`value-of-${key}`),
  });
  let sessions = 0;
  const createAgent = (): Agent => {
    sessions += 1;
    return new strands.Agent({
      model: new OpenAIModel({ api: 'chat', modelId: 'bench', apiKey: 'x', clientConfig: { baseURL: place.baseUrl, maxRetries: 0 } }),
      systemPrompt: systemText,
      tools: [lookup],
      printer: false,
      conversationManager: new strands.NullConversationManager(),
      sessionManager: new strands.SessionManager({
        sessionId: `session-${sessions}`,
        storage: { snapshot: new strands.FileStorage(place.folder) },
      }),
    });
  };
  let agent = createAgent();
  return {
    turn: async (text) => {
      if (place.session === 'fresh') agent = createAgent();
      const { lastMessage } = await agent.invoke(text);
      assertAnswer(lastMessage.content.map((part) => part.text ?? '').join(''));
    },
    syncMs: () => 0,
    close: () => Promise.resolve(),
  };
};
