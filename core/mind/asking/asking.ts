// The interface of the asking module: one question to a model outside the conversation of a turn, answered in words or with a value of a
// schema. Must not keep anything.

export { askModel, type AskingDeps, type ModelQuestion, type Spent } from './ask-model.ts';
export { askValue, outputOf, valueIn, type Output, type ValueAnswer } from './ask-value.ts';
