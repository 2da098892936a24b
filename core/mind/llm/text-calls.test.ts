// Every form in which models write calls as text, and the same forms surrounded by text, where they are examples and quotations.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChatMessage, ToolSchema } from '../../contracts/llm.ts';
import { createRequest, RecordingSink, user } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { LiveWords } from './live-words.ts';
import { readTextCalls, withTextCalls } from './text-calls.ts';

const tool = (name: string, properties: object): ToolSchema => ({ name, description: '', parameters: { type: 'object', properties } });
const text = { type: 'string' };
const tools: ToolSchema[] = [
  tool('get_weather', { city: text, days: { type: 'integer' } }),
  tool('exec', { command: text }),
  tool('tasks', {}),
];

function read(answer: string, knowsMark = false): unknown {
  return readTextCalls(answer, { tools, knowsMark })?.calls.map(({ tool: name, args }) => [name, JSON.parse(args) as unknown]) ?? null;
}

type Form = (name: string, args: Readonly<Record<string, unknown>>) => string;
const json = JSON.stringify;
/** A code fence. */
const F = '```';
const forms: Readonly<Record<string, Form>> = {
  'a tag': (name, args) => `<tool_call>\n${json({ name, arguments: args })}\n</tool_call>`,
  'a tag that is not closed': (name, args) => `<tool_call>${json({ name, arguments: args })}<|im_end|>`,
  'a fence in a tag': (name, args) => `<tool_call>\n${F}json\n${json({ name, arguments: args })}\n${F}\n</tool_call>`,
  'another tag': (name, args) => `<function_call>${json({ name, arguments: args })}</function_call>`,
  'JSON alone': (name, args) => json({ name, parameters: args }),
  'JSON in a fence': (name, args) => `${F}json\n${json({ tool: name, args }, null, 2)}\n${F}`,
  'JSON as the interface has it': (name, args) => json({ tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: json(args) } }] }), // prettier-ignore
  'the tag of Llama': (name, args) => `<|python_tag|>${json({ name, parameters: args })}<|eom_id|>`,
  'the function tag of Llama': (name, args) => `<function=${name}>${json(args)}</function>`,
  'the list of Mistral': (name, args) => `[TOOL_CALLS] [${json({ name, arguments: args, id: 'abcdefghi' })}]</s>`,
  'the newer form of Mistral': (name, args) => `[TOOL_CALLS]${name}[CALL_ID]abcdefghi[ARGS]${json(args)}`,
  'the tokens of DeepSeek': (name, args) => `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n${F}json\n${json(args)}\n${F}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, // prettier-ignore
  'the newer tokens of DeepSeek': (name, args) => `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${json(args)}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, // prettier-ignore
  'the tokens of Kimi': (name, args) => `<|tool_calls_section_begin|><|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${json(args)}<|tool_call_end|><|tool_calls_section_end|>`, // prettier-ignore
  'the tag of Granite': (name, args) => `<|tool_call|>[${json({ name, arguments: args })}]`,
  'the word of Phi': (name, args) => `functools[${json({ name, arguments: args })}]`,
  'the action of Command': (name, args) => `<|START_ACTION|>[${json({ tool_name: name, parameters: args })}]<|END_ACTION|>`,
  'Action and Action Input': (name, args) => `Thought: I look {it} up.\nAction: ${name}\nAction Input: ${json(args)}\nObservation: none`,
  'channels of gpt-oss': (name, args) => `<|channel|>analysis<|message|>Needs {it}.<|end|><|start|>assistant<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${json(args)}<|call|>`, // prettier-ignore
  'a list of Python calls': (name, args) => `[${python(name, args)}]`,
  'a Python call in its fence': (name, args) => `${F}tool_code\n${python(name, args)}\n${F}`,
  'a Python dictionary': (name, args) => `{'name': '${name}', 'arguments': ${json(args)},}`,
};
const tagged: Readonly<Record<string, Form>> = {
  'the tags of Qwen': (name, args) => `<tool_call>\n<function=${name}>\n${each(args, (key, value) => `<parameter=${key}>\n${value}\n</parameter>`)}\n</function>\n</tool_call>`, // prettier-ignore
  'invoke tags': (name, args) => `<function_calls><invoke name="${name}">${each(args, (key, value) => `<parameter name="${key}">${value}</parameter>`)}</invoke></function_calls>`, // prettier-ignore
  'the tags of GLM': (name, args) => `<tool_call>${name}\n${each(args, (key, value) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>`)}\n</tool_call>`, // prettier-ignore
};

function python(name: string, args: Readonly<Record<string, unknown>>): string {
  return `${name}(${Object.entries(args).map(([key, value]) => `${key}=${json(value)}`).join(', ')})`; // prettier-ignore
}

function each(args: Readonly<Record<string, unknown>>, form: (key: string, value: string) => string): string {
  return Object.entries(args).map(([key, value]) => form(key, typeof value === 'string' ? value : json(value))).join('\n'); // prettier-ignore
}

const all = { ...forms, ...tagged };
const rome = { city: 'Zürich "Süd" 東京 🚀', days: 3 };

test.each(Object.keys(all))('%s is a call, also if several follow each other', (name) => {
  const form = all[name] as Form;
  expect(read(form('get_weather', rome))).toEqual([['get_weather', rome]]);
  if (name.startsWith('Action') || name.startsWith('channels')) return;
  const two = `${form('get_weather', rome)}\n${form('exec', { command: 'ls' })}`;
  expect(read(two)).toEqual([['get_weather', rome], ['exec', { command: 'ls' }]]); // prettier-ignore
  expect(read(`${form('get_weather', rome)}\n${form('unknown', {})}`)).toBeNull();
});

test.each(Object.keys(all))('%s keeps the names of arguments in any script', (name) => {
  const args = { año: 'one', 数量: 'two', größe_cm: 'three' };
  expect(read((all[name] as Form)('get_weather', args))).toEqual([['get_weather', args]]);
});

test.each(Object.keys(tagged))('%s keeps signs in the names of arguments', (name) => {
  const args = { $top: 'one', 'filter:by': 'two', 'tags[]': 'three' };
  expect(read((tagged[name] as Form)('get_weather', args))).toEqual([['get_weather', args]]);
});

test('arguments arrive unchanged, and a truncated call is not a call', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const args = fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), value, { maxKeys: 4 });
  fc.assert(
    fc.property(fc.constantFrom(...Object.values(forms)), args, fc.nat(), (form, given, cut) => {
      const answer = form('get_weather', given);
      const want = [['get_weather', JSON.parse(json(given)) as unknown]];
      expect(read(answer)).toEqual(want);
      const part = read(answer.slice(0, cut % answer.length), true);
      if (part !== null) expect(part).toEqual(want);
    }),
    { numRuns: 600 },
  );
});

const contexts: readonly ((call: string) => string)[] = [
  (call) => `A call looks like this: ${call}`,
  (call) => `A call looks like this:\n\n${call}\n\nDo not copy it.`,
  (call) => `The page says "${call}".`,
  (call) => `Use \`${call}\` for that.`,
  (call) => `> ${call.replaceAll('\n', '\n> ')}`,
  (call) => `Example:\n${F}\n${call}\n${F}`,
  (call) => `${call}\n\nis how it is written.`,
  (call) => `例えば「${call}」と書きます。`,
  (call) => `<example>${call}</example>`,
  (call) => `1. ${call}\n2. nothing`,
];

test.each(Object.keys(all))('%s surrounded by text is an example', (name) => {
  const call = (all[name] as Form)('exec', { command: 'ls' });
  for (const context of contexts) for (const knowsMark of [true, false]) expect([context(call), read(context(call), knowsMark)]).toEqual([context(call), null]); // prettier-ignore
});

test.each([
  'Hello.', '{}', '[]', '{"name":"Ada","age":3}', '{"name":"get_weather"}', '{"name":"get_weather","arguments":"Rome"}',
  '{"name":"get_weather","arguments":{"city":"Rome"},"result":"sunny"}', '{"name":"unknown","arguments":{}}', '{"name":"evil.exec","arguments":{}}',
  '{"name":"constructor","arguments":{}}', '{"name":"еxec","arguments":{}}', '{"name":"get_weather","arguments":{"city":"a"b"}}',
  "{'name': 'get_weather', 'arguments': {'city': 'it's'}}", '{"name":"exec","arguments":{"command":"a",,}}', 'exec("ls")', 'exec(command="ls")',
  `${F}python\nexec(command="ls")\n${F}`, '[exec("ls")]', '[exec(command=ls)]', '[exec(command="a" + "b")]', 'result = exec(command="ls")',
  'print(exec(command="ls"))', 'Action: exec', 'Action: exec\nAction Input:', 'Action: get_weather\nAction Input: Rome',
  'Thought: I know.\nFinal Answer: Rome', '<|channel|>final<|message|>Hello.', '<|channel|>commentary to=functions.unknown<|message|>{}',
  '&lt;tool_call&gt;{"name":"exec","arguments":{}}&lt;/tool_call&gt;', '['.repeat(5_000), '{"a":'.repeat(5_000), '<tool_call>'.repeat(2_000),
  '{"name":"tasks","arguments":{}}'.repeat(65),
])('%j is not a call', (answer) => {
  expect(read(answer)).toBeNull();
}); // prettier-ignore

test.each([
  ['<tool_call>{"name":"tasks"}</tool_call>', 'tasks', {}],
  ['<tool_call>tasks</tool_call>', 'tasks', {}],
  ['[tasks()]', 'tasks', {}],
  ['<|python_tag|>exec("ls")', 'exec', { command: 'ls' }],
  ['Action: exec\nAction Input: ls -l', 'exec', { command: 'ls -l' }],
  ['<tool_call>{name: "exec", /* now */ arguments: {command: "ls", // all\n},}</tool_call>', 'exec', { command: 'ls' }],
  ['{"name":"exec","arguments":{"command":"one\ntwo"}}', 'exec', { command: 'one\ntwo' }],
  ['[exec(command="""say "hi"\n</tool_call>""")]', 'exec', { command: 'say "hi"\n</tool_call>' }],
  ["{'name': 'exec', 'arguments': {'command': 'it\\'s', 'all': True, 'none': None, 'both': (1, -2.5e3)}}", 'exec', { command: "it's", all: true, none: null, both: [1, -2500] }], // prettier-ignore
  ['<tool_call>{"name":"exec","arguments":{"command":"ls"}}</tool_call>\n<tool_response>a.txt</tool_response>', 'exec', { command: 'ls' }], // prettier-ignore
])('%j is read or repaired', (answer, name, args) => {
  expect(read(answer)).toEqual([[name, args]]);
});

test('a model that knows the tag may write text before it, and use Python syntax', () => {
  const call = '<tool_call>\n{"name":"exec","arguments":{"command":"ls"}}\n</tool_call>';
  const answer = `I look at the files.\n\n${call}`;
  expect(readTextCalls(answer, { tools, knowsMark: true })).toMatchObject({ text: 'I look at the files.', calls: [{ tool: 'exec' }] });
  expect(read(answer)).toBeNull();
  expect(read(`It is ${call}\n${call}`, true)).toBeNull();
  expect([read('exec(command="ls")', true), read('exec("ls")', true)]).toEqual([[['exec', { command: 'ls' }]], null]);
});

const raw = (answer: string, finishReason: 'stop' | 'length' = 'stop') => ({
  text: answer,
  reasoning: '',
  calls: [],
  usage: null,
  finishReason,
});

test.each(Object.keys(all))('%s that is already in the conversation is a quotation', (name) => {
  const call = (all[name] as Form)('exec', { command: 'rm -r x' });
  const asked = (...messages: ChatMessage[]) => withTextCalls(raw(call), createRequest(messages, { tools }), true).calls.length;
  const result: ChatMessage = {
    role: 'tool',
    id: 'c',
    tool: 'web_fetch',
    text: `The page: ${call.replaceAll('\n', ' \n ')}`,
    isError: false,
  };
  expect([asked(user('clear up')), asked(user(`repeat: ${call}`)), asked(user('read it'), result)]).toEqual([1, 0, 0]);
  expect(asked(user('Why does exec with { "command": "rm -r x" } fail?'))).toBe(0);
});

test('a truncated answer, and one to a request without tools, stay text', () => {
  const call = '{"name":"exec","arguments":{"command":"ls"}}';
  expect(withTextCalls(raw(call, 'length'), createRequest([user('go')], { tools }), true)).toMatchObject({ calls: [], text: call });
  expect(withTextCalls(raw(call), createRequest([user('go')], { tools: [] }), true)).toMatchObject({ calls: [], text: call });
  expect(withTextCalls(raw(call), createRequest([user('go')], { tools }), false)).toMatchObject({ text: '', finishReason: 'tool_calls' });
});

/** The live text before the answer is read, and after. */
function watched(answer: string, { sizes, knowsMark }: { sizes: readonly number[]; knowsMark: boolean }): readonly [string, string] {
  const sink = new RecordingSink();
  const live = new LiveWords(sink, tools, knowsMark);
  for (let at = 0, piece = 0; at < answer.length; piece += 1) {
    const size = sizes[piece % sizes.length] ?? 1;
    live.text(answer.slice(at, at + size));
    at += size;
  }
  const before = sink.texts.join('');
  live.finish(withTextCalls(raw(answer), createRequest([user('go')], { tools }), knowsMark).finishReason === 'tool_calls');
  return [before, sink.texts.join('')];
}

const pieces = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

test.each(Object.keys(all))('%s is not shown while it arrives', (name) => {
  const call = (all[name] as Form)('get_weather', rome);
  fc.assert(
    fc.property(pieces, fc.boolean(), (sizes, knowsMark) => {
      expect(watched(call, { sizes, knowsMark })).toEqual(['', '']);
    }),
    { numRuns: 30 },
  );
});

test('the text before the tag is shown at once, the call after it is not', () => {
  const call = '<tool_call>\n{"name":"exec","arguments":{"command":"ls"}}\n</tool_call>';
  const words = `1 < 2, and\n<b> is not a mark.\n\n${F}html\n<tool\n${F}\n  `;
  fc.assert(
    fc.property(pieces, (sizes) => {
      expect(watched(words + call, { sizes, knowsMark: true }).map((seen) => seen.trimEnd())).toEqual([words.trimEnd(), words.trimEnd()]);
    }),
  );
});

test('all text is shown in the end, and plain text as it arrives', () => {
  const answers = [
    'Hello.',
    'exec runs a command.',
    '[A link](https://example.org/) leads on.',
    `${F}ts\nconst a = 1;\n${F}\nand more words after the block`,
  ];
  const quoted = Object.values(all).flatMap((form) => contexts.map((context) => context(form('exec', { command: 'ls' }))));
  fc.assert(
    fc.property(fc.constantFrom(...answers, ...quoted), pieces, fc.boolean(), (answer, sizes, knowsMark) => {
      expect(watched(answer, { sizes, knowsMark })[1]).toBe(answer);
    }),
    { numRuns: 600 },
  );
  expect(watched('Hello.', { sizes: [2], knowsMark: true })[0]).toBe('Hello.');
});
