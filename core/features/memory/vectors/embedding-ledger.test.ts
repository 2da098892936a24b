// The cost of embedding, tested with the real budget: it is counted, recorded per batch, and embedding stops when the budget of the day is
// spent.

import { expect, test } from 'vitest';
import { ManualClock } from '../../../../tests/doubles/manual-clock.ts';
import type { EventBodies } from '../../../contracts/events.ts';
import { BudgetBook, type BudgetLimits } from '../../../guard/budget/budget.ts';
import { embeddingPrice } from './embedder.ts';
import { EmbeddingLedger, type EmbeddingUse } from './embedding-ledger.ts';

const nothing = { usd: 0, tokens: 0, unknownCostCalls: 0 };

function open(limits: BudgetLimits, usdPerMillionTokens: number | null) {
  const written: EventBodies['embedding.used'][] = [];
  const clock = new ManualClock();
  const budget = new BudgetBook(limits, {
    spentInTurn: () => nothing,
    spentInSession: () => nothing,
    spentSince: () => nothing,
    extensions: () => [],
  });
  const ledger = new EmbeddingLedger({ model: 'm', usdPerMillionTokens, budget, append: (body) => void written.push(body), clock });
  const use = (tokens: number, purpose: EmbeddingUse['purpose'] = 'texts'): void => {
    ledger.admit(tokens);
    ledger.record({ purpose, count: 1, tokens, tokensReported: true, tookMs: 2 });
  };
  const day = () => budget.states({ nowMs: clock.nowMs() });
  return { ledger, written, use, day };
}

test('a batch is one event with its price, and counts towards the day', () => {
  const { use, written, day } = open({ perDayUsd: 1 }, 20);
  use(10_000);
  expect(written).toEqual([{ model: 'm', purpose: 'texts', count: 1, tokens: 10_000, tokensReported: true, costUsd: 0.2, tookMs: 2 }]);
  expect(day().find(({ unit }) => unit === 'usd')).toMatchObject({ scope: 'day', limit: 1, spent: 0.2 });
});

test('questions are collected, and recorded by flush or when there are many', () => {
  const { ledger, use, written } = open({}, 0);
  use(5, 'questions');
  use(7, 'questions');
  expect(written).toEqual([]);
  ledger.flush();
  ledger.flush();
  expect(written).toEqual([{ model: 'm', purpose: 'questions', count: 2, tokens: 12, tokensReported: true, costUsd: 0, tookMs: 4 }]);
  for (let i = 0; i < 50; i++) use(1, 'questions');
  expect(written).toHaveLength(2);
});

test.each([
  [{ perDayTokens: 100 }, null, 'The budget of the day (100 tokens) has no room for embedding; words alone are searched.'],
  [{ perDayUsd: 0.001 }, 10, 'The budget of the day ($0.001) has no room for embedding; words alone are searched.'],
])('nothing is embedded once the budget of the day is spent: %j', (limits, price, problem) => {
  const { ledger, use } = open(limits, price);
  use(60);
  expect(ledger.problem).toBeNull();
  // This request is larger than the remaining budget.
  expect(() => use(60)).toThrow(expect.objectContaining({ code: 'over_budget' }));
  use(40);
  expect(ledger.problem).toBe(problem);
  expect(() => use(1)).toThrow(expect.objectContaining({ code: 'over_budget', message: problem }));
});

test('a limit of a turn or a session does not stop embedding', () => {
  const { use, ledger } = open({ perTurnTokens: 10, perSessionTokens: 10 }, null);
  use(100);
  use(100);
  expect(ledger.problem).toBeNull();
});

test('a local model costs nothing; a model without a stated price is unknown', () => {
  const server = { kind: 'openai-compatible', baseUrl: 'https://x.example/v1', model: 'm' } as const;
  expect(embeddingPrice({ kind: 'gguf', program: 'llama-server', file: 'm.gguf' })).toBe(0);
  expect(embeddingPrice({ kind: 'ollama', baseUrl: 'http://127.0.0.1:11434', model: 'nomic-embed-text' })).toBe(0);
  expect(embeddingPrice({ kind: 'ollama', baseUrl: 'http://127.0.0.1:11434', model: 'big-cloud' })).toBeNull();
  expect(embeddingPrice(server)).toBeNull();
  expect(embeddingPrice({ ...server, usdPerMillionTokens: 0.02 })).toBe(0.02);
});
