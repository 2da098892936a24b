// The attribute names of the traces, in one place. The OpenTelemetry GenAI conventions are still in development and may change; Langfuse
// has its own names. Sources: semantic-conventions-genai, schema 1.42.0; Langfuse's OpenTelemetry attribute reference.

export const schemaUrl = 'https://opentelemetry.io/schemas/gen-ai/1.42.0';

export const names = {
  operation: 'gen_ai.operation.name',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  firstChunkSeconds: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  toolName: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  tokenType: 'gen_ai.token.type',
  errorType: 'error.type',
} as const;

export const evaluation = {
  event: 'gen_ai.evaluation.result',
  name: 'gen_ai.evaluation.name',
  score: 'gen_ai.evaluation.score.value',
  label: 'gen_ai.evaluation.score.label',
  explanation: 'gen_ai.evaluation.explanation',
} as const;

/** Attributes that no convention defines. */
export const own = {
  turn: 'trayclaw.turn.id',
  channel: 'trayclaw.channel',
  status: 'trayclaw.turn.status',
  costUsd: 'trayclaw.cost.usd',
  packTokens: 'trayclaw.pack.tokens',
  packDropped: 'trayclaw.pack.dropped',
  decision: 'trayclaw.policy.decision',
  rule: 'trayclaw.policy.rule',
  answer: 'trayclaw.approval.answer',
  answeredBy: 'trayclaw.approval.by',
  attempt: 'trayclaw.model.retries',
  evalRun: 'trayclaw.eval.run',
  evalCase: 'trayclaw.eval.case',
} as const;

/** Attributes that are not whole numbers, although one may happen to be. */
export const doubles: ReadonlySet<string> = new Set([names.firstChunkSeconds, evaluation.score, own.costUsd]);

export const langfuse = {
  kind: 'langfuse.observation.type',
  session: 'langfuse.session.id',
  trace: 'langfuse.trace.name',
  cost: 'langfuse.observation.cost_details',
  input: 'langfuse.observation.input',
  output: 'langfuse.observation.output',
  level: 'langfuse.observation.level',
  status: 'langfuse.observation.status_message',
} as const;

export const metrics = {
  tokens: 'gen_ai.client.token.usage',
  duration: 'gen_ai.client.operation.duration',
  costUsd: 'trayclaw.client.cost',
} as const;
