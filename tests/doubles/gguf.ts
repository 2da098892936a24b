// A GGUF file whose weights are a script: a small model of the llama architecture that says fixed words. Its embeddings are one-hot,
// attention and feed-forward are zero, and the output matrix maps each word to its successor. The end of the chat template selects the
// sentence.

const CONTEXT_TOKENS = 131_072;
const WIDTH_STEP = 32;
const ALIGNMENT = 32;
const HEADS = 4;
const HIDDEN = 32;
const kinds = { u32: 4, f32: 6, bool: 7, text: 8, list: 9, i32: 5 } as const;

export interface GgufScript {
  /** Words of an ordinary answer. */
  readonly say?: readonly string[];
  /** The words if tools are offered; each is one token. */
  readonly call?: readonly string[];
  /** The words after a tool result. */
  readonly told?: readonly string[];
  /** Gives two tokens the same text, which makes llama.cpp crash. */
  readonly isBroken?: boolean;
  readonly template?: string;
}

const usual = {
  say: ['Hello', ' from', ' a', ' real', ' GGUF', ' file', '.'],
  call: ['<tool_call>', '{"name": "read_file", "arguments": {"path": "notes.txt"}}', '</tool_call>'],
  told: ['The', ' tool', ' returned', ' something', ' useful', '!'],
};

const choice = '{% if seen.told %}<|told|>{% elif tools %}<|call|>{% else %}<|say|>{% endif %}';
/** A chat template with tools. */
export const toolTemplate = [
  '{% set seen = namespace(told=false) %}',
  "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% if m.role == 'tool' %}{% set seen.told = true %}{% endif %}{% endfor %}",
  `{% if add_generation_prompt %}${choice}{% endif %}`,
].join('');

/** A chat template without tools that rejects a system message. */
export const plainTemplate = [
  "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}",
  '{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<|say|>{% endif %}',
].join('');

/** Tokens that the tokenizer recognises in any text, as in models that support tools; the answer ends after the closing one. */
const marks: ReadonlySet<string> = new Set(['<tool_call>', '</tool_call>']);

export function scriptedGguf(script: GgufScript = {}): Buffer {
  const tokens: { text: string; type: number; score: number }[] = [
    { text: '<unk>', type: 2, score: 0 },
    { text: '<s>', type: 3, score: 0 },
    { text: '</s>', type: 3, score: 0 },
  ];
  const add = (text: string, type: number, score: number): number => tokens.push({ text, type, score }) - 1;
  const chains = { '<|say|>': script.say ?? usual.say, '<|call|>': script.call ?? usual.call, '<|told|>': script.told ?? usual.told };
  const starts = Object.keys(chains).map((name) => add(name, 3, 0));
  const next = new Map<number, number>();
  Object.values(chains).forEach((words, at) => {
    let before = starts[at] ?? 0;
    for (const word of words) {
      const id = add(word.replaceAll(' ', '\u2581'), marks.has(word) ? 4 : 1, -1000);
      next.set(before, id);
      before = id;
    }
    next.set(before, 2);
  });
  const used = tokens.length;
  for (let byte = 0; byte < 256; byte++) add(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, 6, 0);
  const letters = '\u2581abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789{}[]":,.-_\n';
  for (const letter of letters) if (!tokens.some(({ text }) => text === letter)) add(letter, 1, -tokens.length);
  if (script.isBroken === true) add('a', 1, 0);
  return fileOf(tokens, { used, next, template: script.template ?? toolTemplate });
}

interface Weights {
  readonly used: number;
  readonly next: ReadonlyMap<number, number>;
  readonly template: string;
}

function fileOf(tokens: readonly { text: string; type: number; score: number }[], { used, next, template }: Weights): Buffer {
  const width = Math.ceil(used / WIDTH_STEP) * WIDTH_STEP;
  const count = tokens.length;
  const sizes = {
    context_length: CONTEXT_TOKENS,
    embedding_length: width,
    block_count: 1,
    feed_forward_length: HIDDEN,
    'attention.head_count': HEADS,
    'attention.head_count_kv': HEADS,
    'rope.dimension_count': width / HEADS,
    vocab_size: count,
  };
  const entries = [
    entry('general.architecture', 'text', textOf('llama')),
    ...Object.entries(sizes).map(([name, size]) => entry(`llama.${name}`, 'u32', u32(size))),
    entry('llama.attention.layer_norm_rms_epsilon', 'f32', f32(1e-5)),
    entry('tokenizer.ggml.model', 'text', textOf('llama')),
    entry(
      'tokenizer.ggml.tokens',
      'list',
      list(
        'text',
        tokens.map((token) => textOf(token.text)),
      ),
    ),
    entry(
      'tokenizer.ggml.scores',
      'list',
      list(
        'f32',
        tokens.map((token) => f32(token.score)),
      ),
    ),
    entry(
      'tokenizer.ggml.token_type',
      'list',
      list(
        'i32',
        tokens.map((token) => u32(token.type)),
      ),
    ),
    entry('tokenizer.ggml.bos_token_id', 'u32', u32(1)),
    entry('tokenizer.ggml.eos_token_id', 'u32', u32(2)),
    entry('tokenizer.ggml.unknown_token_id', 'u32', u32(0)),
    entry('tokenizer.ggml.add_bos_token', 'bool', Buffer.from([1])),
    entry('tokenizer.ggml.add_space_prefix', 'bool', Buffer.from([0])),
    entry('tokenizer.chat_template', 'text', textOf(template)),
  ];
  const square = [width, width];
  const tensors = [
    tensor('token_embd.weight', [width, count], (data) => {
      for (let id = 0; id < used; id++) data[id * width + id] = 1;
    }),
    tensor('output_norm.weight', [width], (data) => data.fill(1)),
    tensor('output.weight', [width, count], (data) => {
      for (const [before, after] of next) data[after * width + before] = 10;
    }),
    tensor('blk.0.attn_norm.weight', [width], (data) => data.fill(1)),
    tensor('blk.0.ffn_norm.weight', [width], (data) => data.fill(1)),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) => tensor(`blk.0.${name}.weight`, square)),
    tensor('blk.0.ffn_gate.weight', [width, HIDDEN]),
    tensor('blk.0.ffn_up.weight', [width, HIDDEN]),
    tensor('blk.0.ffn_down.weight', [HIDDEN, width]),
  ];
  let offset = 0;
  const infos = tensors.map(({ name, shape, data }) => {
    const info = Buffer.concat([textOf(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset)]);
    offset += padded(data).length;
    return info;
  });
  const head = Buffer.concat([Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(entries.length), ...entries, ...infos]);
  return Buffer.concat([padded(head), ...tensors.map(({ data }) => padded(data))]);
}

function tensor(name: string, shape: readonly number[], fill?: (data: Float32Array) => void) {
  const data = new Float32Array(shape.reduce((product, size) => product * size, 1));
  fill?.(data);
  return { name, shape, data: Buffer.from(data.buffer) };
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT)]);
}

function entry(key: string, kind: keyof typeof kinds, value: Buffer): Buffer {
  return Buffer.concat([textOf(key), u32(kinds[kind]), value]);
}

function list(kind: keyof typeof kinds, items: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(kinds[kind]), u64(items.length), ...items]);
}

function textOf(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}
