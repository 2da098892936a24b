// Repeated and paid model calls. Data: each gate with its removal and the tests that must fail without it.

import type { Gate } from '../gate.ts';

export const modelGates: readonly Gate[] = [
  {
    name: 'model/broken-twice',
    prevents: 'answers that keep breaking off are paid for again and again',
    file: 'core/runtime/turns/perform-model.ts',
    text: '...(mayAskAgain && !runner.state.brokeOff ?',
    instead: '...(mayAskAgain ?',
    suites: ['tests/program/broken-answers.test.ts'],
  },
  {
    name: 'model/whole-answer',
    prevents: 'an answer that arrived whole is paid for a second time',
    file: 'core/mind/llm/wire-client.ts',
    text: "if (broken.code !== 'model_cut_off') throw broken;",
    instead: 'if (broken !== null) throw broken;',
    suites: ['tests/program/broken-answers.test.ts'],
  },
  {
    name: 'model/private-route',
    prevents: 'private data goes to a model that is to have none',
    file: 'core/mind/llm/routes/route-choice.ts',
    text: 'if (wantsPrivate === undefined || wantsPrivate === request.isPrivate) return null;',
    instead: 'if (request.tokens >= 0) return null;',
    suites: ['core/mind/llm/routes/route-choice.test.ts', 'tests/program/model-routes.test.ts'],
  },
  {
    name: 'model/local-route',
    prevents: 'a route that takes only local models asks one elsewhere',
    file: 'core/mind/llm/routes/route-choice.ts',
    text: 'if (localOnly && !facts.isLocal)',
    instead: "if (localOnly && !facts.isLocal && facts.model === '')",
    suites: ['core/mind/llm/routes/route-choice.test.ts'],
  },
  {
    name: 'model/refusal-route',
    prevents: 'what a filter refused is taken to another model',
    file: 'core/mind/llm/routes/failover-table.ts',
    text: 'refusal: { advances: false,',
    instead: 'refusal: { advances: true,',
    suites: ['core/mind/llm/routes/model-health.test.ts', 'tests/faults/failover.test.ts'],
  },
];
