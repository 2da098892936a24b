// Structured clone over a text channel: the values that Electron's IPC and bridge accept, with types and cycles, and those they reject. One
// self-contained function, because its source text also runs in the worlds of a page.

export interface Codec {
  /** Throws the platform's DataCloneError for functions, symbols, promises and so on. */
  encode(value: unknown): string;
  decode(text: string): unknown;
}

type Node = readonly [kind: string, ...parts: unknown[]];

export function createCodec(): Codec {
  const views: Record<string, new (buffer: ArrayBuffer) => ArrayBufferView> = {
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
    DataView,
  };
  const errors: Record<string, new (message: string) => Error> = {
    Error,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
  };
  const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const fromHex = (text: string): ArrayBuffer => {
    const bytes = new Uint8Array(text.length / 2);
    for (let index = 0; index < bytes.length; index++) bytes[index] = Number.parseInt(text.slice(index * 2, index * 2 + 2), 16);
    return bytes.buffer;
  };

  function encode(value: unknown): string {
    const nodes: Node[] = [];
    const seen = new Map<unknown, number>();
    const put = (one: unknown): number => {
      const known = seen.get(one);
      if (known !== undefined) return known;
      const index = nodes.push(['hole']) - 1;
      seen.set(one, index);
      nodes[index] = nodeOf(one, put);
      return index;
    };
    // The platform decides what may pass, and drops prototypes, accessors and non-enumerable properties.
    put(structuredClone(value));
    return JSON.stringify(nodes);
  }

  function nodeOf(one: unknown, put: (one: unknown) => number): Node {
    switch (typeof one) {
      case 'undefined':
        return ['undefined'];
      case 'number':
        return Number.isFinite(one) && !Object.is(one, -0) ? ['value', one] : ['number', Object.is(one, -0) ? '-0' : String(one)];
      case 'bigint':
        return ['bigint', String(one)];
      case 'object':
        return one === null ? ['value', null] : objectNode(one, put);
      default:
        return ['value', one];
    }
  }

  function objectNode(one: object, put: (one: unknown) => number): Node {
    if (Array.isArray(one)) {
      const entries = Object.entries(one as unknown[]).map(([key, part]) => [key, put(part)]);
      return ['array', one.length, entries];
    }
    if (one instanceof Date) return ['date', put(one.getTime())];
    if (one instanceof RegExp) return ['regexp', one.source, one.flags];
    if (one instanceof Map) return ['map', [...one].map(([key, part]) => [put(key), put(part)])];
    if (one instanceof Set) return ['set', [...one].map(put)];
    if (one instanceof ArrayBuffer) return ['buffer', toHex(new Uint8Array(one))];
    if (ArrayBuffer.isView(one)) {
      const name = Object.prototype.toString.call(one).slice(8, -1);
      return ['view', name, toHex(new Uint8Array(one.buffer, one.byteOffset, one.byteLength))];
    }
    if (one instanceof Error) return ['error', one.name, one.message, one.stack ?? ''];
    if (['[object Boolean]', '[object Number]', '[object String]'].includes(Object.prototype.toString.call(one)))
      return ['boxed', put(one.valueOf())];
    return ['object', Object.entries(one).map(([key, part]) => [key, put(part)])];
  }

  function decode(text: string): unknown {
    const nodes = JSON.parse(text) as Node[];
    const made = new Map<number, unknown>();
    const keep = <T>(index: number, value: T): T => {
      made.set(index, value);
      return value;
    };
    const get = (index: number): unknown => (made.has(index) ? made.get(index) : build(index));
    const builders: Record<string, (index: number, first: unknown, second: unknown, third: unknown) => unknown> = {
      value: (index, first) => keep(index, first),
      number: (index, first) => keep(index, Number(first)),
      bigint: (index, first) => keep(index, BigInt(first as string)),
      array: (index, first, second) => fill(keep(index, Object.assign([], { length: first as number })), second as [string, number][]),
      object: (index, first) => fill(keep(index, {}), first as [string, number][]),
      date: (index, first) => keep(index, new Date(get(first as number) as number)),
      regexp: (index, first, second) => keep(index, new RegExp(first as string, second as string)),
      map: (index, first) => {
        const map = keep(index, new Map<unknown, unknown>());
        for (const [key, part] of first as [number, number][]) map.set(get(key), get(part));
        return map;
      },
      set: (index, first) => {
        const set = keep(index, new Set<unknown>());
        for (const part of first as number[]) set.add(get(part));
        return set;
      },
      buffer: (index, first) => keep(index, fromHex(first as string)),
      view: (index, first, second) => keep(index, new (views[first as string] ?? Uint8Array)(fromHex(second as string))),
      error: (index, first, second, third) => {
        const error = new (errors[first as string] ?? Error)(second as string);
        Object.defineProperty(error, 'stack', { value: third, configurable: true, writable: true });
        return keep(index, error);
      },
      boxed: (index, first) => keep(index, Object(get(first as number))),
    };
    const build = (index: number): unknown => {
      const [kind, first, second, third] = nodes[index] ?? ['undefined'];
      return (builders[kind] ?? ((at) => keep(at, undefined)))(index, first, second, third);
    };
    const fill = <T extends object>(target: T, entries: [string, number][]): T => {
      // Defined instead of assigned, because a key may be __proto__.
      for (const [key, part] of entries) {
        Object.defineProperty(target, key, { value: get(part), enumerable: true, configurable: true, writable: true });
      }
      return target;
    };
    return get(0);
  }

  return { encode, decode };
}

/** Source text that creates the codec in another world. */
export const codecSource = `(${createCodec.toString()})()`;
