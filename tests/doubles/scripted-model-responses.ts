// Writes a scripted reply in the form of OpenAI's Responses API: one numbered event for each step of each item, or one document.

import { signatureOf } from './vendors/anthropic-words.ts';
import { CREATED_S, type ReadyReply } from './ready-reply.ts';

interface Item {
  readonly item: Readonly<Record<string, unknown>>;
  /** The item at its beginning, and the events in between. */
  readonly begins: Readonly<Record<string, unknown>>;
  readonly steps: readonly (readonly [type: string, rest: object])[];
}

export function responsesFrames(reply: ReadyReply, streams: boolean): string[] {
  const items = itemsOf(reply);
  const usage =
    reply.usage === null
      ? null
      : {
          input_tokens: reply.usage.input,
          input_tokens_details: { cached_tokens: reply.usage.cached ?? 0 },
          output_tokens: reply.usage.output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: reply.usage.input + reply.usage.output,
        };
  const response = { id: `resp_${reply.id}`, object: 'response', created_at: CREATED_S, model: reply.model, error: null };
  const whole = {
    ...response,
    status: reply.isCutShort ? 'incomplete' : 'completed',
    incomplete_details: reply.isCutShort ? { reason: 'max_output_tokens' } : null,
    output: items.map(({ item }) => item),
    usage,
  };
  if (!streams) return [JSON.stringify(whole)];
  let sequence_number = 0;
  const event = (type: string, rest: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...rest })}\n\n`;
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  return [
    event('response.created', { response: begun }),
    event('response.in_progress', { response: begun }),
    ...items.flatMap(({ item, begins, steps }, output_index) => [
      event('response.output_item.added', { output_index, item: begins }),
      ...steps.map(([type, rest]) => event(type, { output_index, item_id: item['id'], ...rest })),
      event('response.output_item.done', { output_index, item }),
    ]),
    event(reply.isCutShort ? 'response.incomplete' : 'response.completed', { response: whole }),
  ];
}

function itemsOf({ id, model, reasoning, text, calls, pieces }: ReadyReply): Item[] {
  const items: Item[] = [];
  if (reasoning !== '') {
    const thinks = { type: 'reasoning', id: `rs_${id}`, summary: [] };
    const summary = [{ type: 'summary_text', text: reasoning }];
    items.push({
      item: { ...thinks, summary, encrypted_content: `gAAAA${signatureOf(reasoning)}` },
      begins: thinks,
      steps: [
        ['response.reasoning_summary_part.added', { summary_index: 0, part: { type: 'summary_text', text: '' } }],
        ...pieces(reasoning).map((delta) => ['response.reasoning_summary_text.delta', { summary_index: 0, delta }] as const),
        ['response.reasoning_summary_text.done', { summary_index: 0, text: reasoning }],
        ['response.reasoning_summary_part.done', { summary_index: 0, part: summary[0] }],
      ],
    });
  }
  if (text !== '') {
    const phase = /^gpt-(5\.[3-9]|6)/.test(model) ? { phase: calls.length > 0 ? 'commentary' : 'final_answer' } : {};
    const says = { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'in_progress', content: [], ...phase };
    const part = { type: 'output_text', text, annotations: [] };
    items.push({
      item: { ...says, status: 'completed', content: [part] },
      begins: says,
      steps: [
        ['response.content_part.added', { content_index: 0, part: { ...part, text: '' } }],
        ...pieces(text).map((delta) => ['response.output_text.delta', { content_index: 0, delta, logprobs: [] }] as const),
        ['response.output_text.done', { content_index: 0, text }],
        ['response.content_part.done', { content_index: 0, part }],
      ],
    });
  }
  calls.forEach((call, index) => {
    const asks = {
      type: 'function_call',
      id: `fc_${id}_${index}`,
      call_id: call.id,
      name: call.tool,
      arguments: '',
      status: 'in_progress',
    };
    items.push({
      item: { ...asks, arguments: call.args, status: 'completed' },
      begins: asks,
      steps: [
        ...pieces(call.args).map((delta) => ['response.function_call_arguments.delta', { delta }] as const),
        ['response.function_call_arguments.done', { arguments: call.args }],
      ],
    });
  });
  return items;
}
