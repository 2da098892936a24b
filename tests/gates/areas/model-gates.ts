// What may be asked of a model, and paid for, twice. Data: each gate with what its removal is and who must notice.

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
];
