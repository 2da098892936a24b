// LangGraph as a peer: its prebuilt agent with its SQLite saver, one thread per session.

import { join } from 'node:path';
import * as z from 'zod';
import { assertAnswer, systemText, type OpenSubject } from '../subjects/subject.ts';
import { importFromPeer, type PeerPackages } from './peer-folder.ts';

export const langGraphPackages: PeerPackages = {
  name: 'langgraph',
  dependencies: {
    '@langchain/core': '1.4.0',
    '@langchain/langgraph': '1.7.3',
    '@langchain/langgraph-checkpoint-sqlite': '1.0.4',
    '@langchain/openai': '1.6.0',
    zod: '4.6.7',
  },
  // The version that LangGraph requests aborts under Node 24.
  overrides: { 'better-sqlite3': '13.2.0' },
};

interface Graph {
  invoke(input: object, options: object): Promise<{ readonly messages: readonly { readonly content: unknown }[] }>;
}

interface Prebuilt {
  createReactAgent(options: object): Graph;
}

interface SqliteCheckpoints {
  readonly SqliteSaver: { fromConnString(file: string): { readonly db: { close(): void } } };
}

interface LangChainOpenAi {
  readonly ChatOpenAI: new (options: object) => unknown;
}

interface LangChainTools {
  tool(run: (args: { key: string }) => Promise<string>, definition: object): unknown;
}

const STEPS_MAX = 100;

export const openLangGraph: OpenSubject = async (place) => {
  const importHere = await importFromPeer(langGraphPackages.name);
  const prebuilt = await importHere<Prebuilt>('@langchain/langgraph/prebuilt');
  const { SqliteSaver } = await importHere<SqliteCheckpoints>('@langchain/langgraph-checkpoint-sqlite');
  const { ChatOpenAI } = await importHere<LangChainOpenAi>('@langchain/openai');
  const tools = await importHere<LangChainTools>('@langchain/core/tools');
  const lookup = tools.tool(({ key }) => Promise.resolve(`value-of-${key}`), {
    name: 'lookup',
    description: 'Look a key up',
    schema: z.object({ key: z.string(), n: z.number() }),
  });
  const checkpointer = SqliteSaver.fromConnString(join(place.folder, 'checkpoints.db'));
  const graph = prebuilt.createReactAgent({
    llm: new ChatOpenAI({ model: 'bench', apiKey: 'x', streaming: false, maxRetries: 0, configuration: { baseURL: place.baseUrl } }),
    tools: [lookup],
    prompt: systemText,
    checkpointer,
  });
  let threads = 0;
  return {
    turn: async (text) => {
      if (place.session === 'fresh') threads += 1;
      const options = { recursionLimit: STEPS_MAX, configurable: { thread_id: `thread-${threads}` } };
      const { messages } = await graph.invoke({ messages: [{ role: 'user', content: text }] }, options);
      assertAnswer(String(messages.at(-1)?.content));
    },
    syncMs: () => 0,
    close: () => {
      checkpointer.db.close();
      return Promise.resolve();
    },
  };
};
