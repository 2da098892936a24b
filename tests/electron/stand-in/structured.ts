// Structured clone across a text channel: what Electron's IPC and bridge let through, with its types and cycles, and what they refuse.
// One self-contained function, because its source text also runs inside the worlds of a page.

export interface Codec {
  /** Fails with the platform's DataCloneError for functions, symbols, promises and the like. */
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
    // The platform decides what may pass and drops prototypes, accessors and hidden parts.
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
    if (one instanceof Boolean || one instanceof Number || one instanceof String) return ['boxed', put(one.valueOf())];
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
    const build = (index: number): unknown => {
      const [kind, first, second, third] = nodes[index] ?? ['undefined'];
      switch (kind) {
        case 'value':
          return keep(index, first);
        case 'number':
          return keep(index, Number(first));
        case 'bigint':
          return keep(index, BigInt(first as string));
        case 'array':
          return fill(keep(index, new Array(first as number)), second as [string, number][]);
        case 'object':
          return fill(keep(index, {}), first as [string, number][]);
        case 'date':
          return keep(index, new Date(get(first as number) as number));
        case 'regexp':
          return keep(index, new RegExp(first as string, second as string));
        case 'map': {
          const map = keep(index, new Map<unknown, unknown>());
          for (const [key, part] of first as [number, number][]) map.set(get(key), get(part));
          return map;
        }
        case 'set': {
          const set = keep(index, new Set<unknown>());
          for (const part of first as number[]) set.add(get(part));
          return set;
        }
        case 'buffer':
          return keep(index, fromHex(first as string));
        case 'view': {
          const View = views[first as string] ?? Uint8Array;
          return keep(index, new View(fromHex(second as string)));
        }
        case 'error': {
          const error = new (errors[first as string] ?? Error)(second as string);
          Object.defineProperty(error, 'stack', { value: third, configurable: true, writable: true });
          return keep(index, error);
        }
        case 'boxed':
          return keep(index, Object(get(first as number)));
        default:
          return keep(index, undefined);
      }
    };
    const fill = <T extends object>(target: T, entries: [string, number][]): T => {
      // Defined and not assigned: a key may be __proto__.
      for (const [key, part] of entries) {
        Object.defineProperty(target, key, { value: get(part), enumerable: true, configurable: true, writable: true });
      }
      return target;
    };
    return get(0);
  }

  return { encode, decode };
}

/** The same, as text that makes a codec where it runs. */
export const codecSource = `(${createCodec.toString()})()`;
