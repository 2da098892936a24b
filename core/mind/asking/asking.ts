// The interface of the asking module: one question to a model outside the conversation of a turn, answered with text, with a value of a
// schema, or with a judgement of a piece of work. Stores nothing.

export { askModel, type AskingDeps, type ModelQuestion, type Spent } from './ask-model.ts';
export { askValue, outputOf, valueIn, type Output, type ValueAnswer } from './ask-value.ts';
export { outputOfJsonSchema } from './json-schema.ts';
export { judgeFirmly, judgeKey, type Judged } from './judge.ts';
