// The scripted model's answers, as the bytes of two wire formats: OpenAI chat completions and Anthropic messages. Every reply has a unique
// id and every tool call unique arguments; otherwise all calls are alike.

export type WireFormat = 'chat' | 'anthropic';
export type ToolName = 'lookup' | 'list_dir';

export interface ScriptedReply {
  /** Null for the closing answer. */
  readonly tool: ToolName | null;
  /** A counter that increases over the server's lifetime: the source of ids and of distinct arguments. */
  readonly number: number;
  readonly streams: boolean;
}

/** The number of folders the `list_dir` script walks through. Larger than the number of calls in a turn, so that none repeats within it. */
export const listedFolders = 20;

const ANSWER_DELTAS = 32;
const ARGUMENT_DELTAS = 4;
const ID = '@id@';
const words = Array.from({ length: ANSWER_DELTAS }, (_, index) => `${index === 0 ? '' : ' '}word${index}`);
export const answerText = words.join('');

const chatUsage = { prompt_tokens: 100, completion_tokens: 32, total_tokens: 132 };
const anthropicUsage = { input_tokens: 100, output_tokens: 32 };

export function replyBytes(format: WireFormat, reply: ScriptedReply): string {
  if (format === 'anthropic') return anthropicStream(reply);
  return reply.streams ? chatStream(reply) : chatJson(reply);
}

function toolArguments(tool: ToolName, number: number): string {
  return tool === 'lookup'
    ? JSON.stringify({ key: `item-${number}`, n: number })
    : JSON.stringify({ path: `folder-${number % listedFolders}` });
}

function pieces(text: string): string[] {
  const length = Math.ceil(text.length / ARGUMENT_DELTAS);
  return Array.from({ length: ARGUMENT_DELTAS }, (_, index) => text.slice(index * length, (index + 1) * length));
}

function chatChunk(delta: object, finishReason: string | null = null): object {
  const choice = { index: 0, delta, finish_reason: finishReason };
  return { id: ID, object: 'chat.completion.chunk', created: 1_750_000_000, model: 'bench', choices: [choice] };
}

function chatEvents(chunks: readonly object[]): string {
  const usage = { ...chatChunk({}), choices: [], usage: chatUsage };
  return [...chunks, usage].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + 'data: [DONE]\n\n';
}

const chatAnswer = chatEvents([
  chatChunk({ role: 'assistant', content: '' }),
  ...words.map((content) => chatChunk({ content })),
  chatChunk({}, 'stop'),
]);

function chatStream({ tool, number }: ScriptedReply): string {
  const id = `chatcmpl-${number}`;
  if (tool === null) return chatAnswer.replaceAll(ID, id);
  const call = { index: 0, id: `call_${number}`, type: 'function', function: { name: tool, arguments: '' } };
  return chatEvents([
    chatChunk({ role: 'assistant', content: null, tool_calls: [call] }),
    ...pieces(toolArguments(tool, number)).map((text) => chatChunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
    chatChunk({}, 'tool_calls'),
  ]).replaceAll(ID, id);
}

function chatJson({ tool, number }: ScriptedReply): string {
  const call = (name: ToolName): object => ({
    id: `call_${number}`,
    type: 'function',
    function: { name, arguments: toolArguments(name, number) },
  });
  const content = tool === null ? { content: answerText } : { content: null, tool_calls: [call(tool)] };
  const choice = {
    index: 0,
    message: { role: 'assistant', refusal: null, ...content },
    logprobs: null,
    finish_reason: tool === null ? 'stop' : 'tool_calls',
  };
  return JSON.stringify({
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    created: 1_750_000_000,
    model: 'bench',
    choices: [choice],
    usage: chatUsage,
  });
}

function anthropicStream({ tool, number }: ScriptedReply): string {
  const message = {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: 'bench',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: anthropicUsage,
  };
  const block = tool === null ? { type: 'text', text: '' } : { type: 'tool_use', id: `toolu_${number}`, name: tool, input: {} };
  const deltas =
    tool === null
      ? words.map((text) => ({ type: 'text_delta', text }))
      : pieces(toolArguments(tool, number)).map((text) => ({ type: 'input_json_delta', partial_json: text }));
  const stopReason = tool === null ? 'end_turn' : 'tool_use';
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: 32 } },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}
