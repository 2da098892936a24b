// Makes the schemas of Zod cheap to create in the bundle: a schema keeps its definition and builds the rest of itself when it is first used. A
// start creates thousands of schemas and uses a few hundred. The text below is that of the pinned version of Zod.

import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

/**
 * Appended to the file that defines the constructors of schemas. `_zod` is what a schema builds; the other properties that it sets on itself
 * are learned from the first schema of each kind.
 */
const constructor = `
export function $constructor(name, initializer, proto, params) {
  const Eager = $eager(name, initializer, proto, params);
  if (params?.Parent || !name.startsWith('Zod')) return Eager;
  const { prototype } = Eager;
  let isKnown = false;
  function Schema(def) {
    this.def = def;
    this.type = def.type;
    if (!isKnown) learn(this);
  }
  function learn(schema) {
    isKnown = true;
    for (const key of Reflect.ownKeys(schema._zod && schema))
      if (key !== '_zod' && key !== 'def' && key !== 'type') Object.defineProperty(prototype, key, lazily(key));
  }
  const lazily = (key) => ({
    configurable: true,
    get() {
      if (!this.def || Object.hasOwn(this, '_zod')) return undefined;
      return this._zod && this[key];
    },
    set(value) {
      Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
    },
  });
  Object.defineProperty(prototype, 'constructor', { value: Schema });
  Object.defineProperty(prototype, '_zod', {
    configurable: true,
    get() {
      // The initializer asks for it before it sets it.
      if (!this.def || building === this) return undefined;
      const outer = building;
      building = this;
      Eager.init(this, this.def);
      building = outer;
      for (const action of this._zod.deferred ?? []) action();
      this._zod.deferred = undefined;
      this._zod.constr = Schema;
      const parent = parents.get(this);
      if (parent) this._zod.parent = parent;
      return this._zod;
    },
  });
  return Object.defineProperties(Schema, {
    prototype: { value: prototype },
    init: { value: Eager.init },
    name: { value: name },
    [Symbol.hasInstance]: { value: (schema) => Eager[Symbol.hasInstance](schema) },
  });
}
const parents = new WeakMap();
let building;
/** A schema inherits the description of the one it is derived from. */
export function derive(schema, parent) {
  if (Object.hasOwn(schema, '_zod')) schema._zod.parent = parent;
  else parents.set(schema, parent);
}
`;

/** By file: what is replaced in it, and what follows. */
const changes = {
  core: { from: 'function $constructor(', to: 'function $eager(', added: constructor },
  util: {
    from: `    const cl = new inst._zod.constr(def ?? inst._zod.def);
    if (!def || params?.parent)
        cl._zod.parent = inst;
`,
    to: `    const cl = new inst.constructor(def ?? inst.def ?? inst._zod.def);
    if (!def || params?.parent) derive(cl, inst);
`,
    added: `import { derive } from './core.js';`,
  },
};

export const lazyZod: Plugin = {
  name: 'lazy-zod',
  enforce: 'pre',
  load(id) {
    const name = /\/zod\/v4\/core\/(core|util)\.js$/.exec(id.replaceAll('\\', '/'))?.[1];
    if (name === undefined) return null;
    const { from, to, added } = changes[name as keyof typeof changes];
    const code = readFileSync(id, 'utf8');
    if (!code.includes(from)) throw new Error(`This is not the version of Zod that build/lazy-zod.ts is written for: ${id}`);
    return code.replace(from, () => to).replace('export /*@__NO_SIDE_EFFECTS__*/ function $eager', 'function $eager') + added;
  },
};
