// The model's input: material and summaries are not instructions. Data: each gate with its removal and the tests that must fail without it.

import type { Gate } from '../gate.ts';

export const contextGates: readonly Gate[] = [
  {
    name: 'context/instructing-words',
    prevents: 'untrusted content becomes instructions of an agent',
    file: 'core/mind/context/select-parts.ts',
    text: 'parts: parts.filter((part) => !isForeign(part)),',
    instead: 'parts,',
    suites: ['core/mind/context/pack.test.ts'],
  },
  {
    name: 'context/closed-mark',
    prevents: 'material and summaries close the mark they stand in',
    file: 'core/base/fence.ts',
    text: '\\n${withoutMarks(text, own)}\\n',
    instead: '\\n${text}\\n',
    suites: ['core/base/fence.test.ts', 'core/mind/context/pack.test.ts'],
  },
  {
    name: 'context/project-words',
    prevents: 'what a project file says counts as words of the person',
    file: 'core/features/project/instructions.ts',
    text: ", tainted: [{ kind: 'file', where: path }] }];",
    instead: ' }];',
    suites: ['tests/program/project-file.test.ts'],
  },
  {
    name: 'context/accepted-project',
    prevents: 'a project file instructs with another text than the one a person accepted',
    file: 'core/features/project/instructions.ts',
    text: 'return this.#deps.accepted(path) === sha256;',
    instead: 'return this.#deps.accepted(path) !== null || sha256 === null;',
    suites: ['core/features/project/instructions.test.ts'],
  },
  {
    name: 'context/foreign-parts',
    prevents: 'untrusted content reaches the model in a pack without a mark',
    file: 'core/runtime/turns/perform-model.ts',
    text: 'if (!isTold) markForeignParts(runner, parts ?? []);',
    instead: 'void [markForeignParts, parts];',
    suites: ['core/runtime/turns/turns-packs.test.ts'],
  },
  {
    name: 'context/compaction-panic',
    prevents: 'a summary is still written under the panic stop',
    file: 'core/runtime/compaction/compaction.ts',
    text: "for (const running of this.#running.values()) running.abort(new AppError('cancelled', 'The panic stop was pressed.'));",
    instead: '',
    suites: ['core/runtime/turns/turns-compaction.test.ts'],
    only: 'panic stop',
  },
  {
    name: 'context/compaction-budget',
    prevents: 'summaries are paid for beyond the budget',
    file: 'core/mind/asking/ask-model.ts',
    text: 'if (!admission.ok) return {',
    instead: 'if (admission.ok === null) return {',
    suites: ['core/runtime/turns/turns-compaction.test.ts'],
    only: 'budget',
  },
];
