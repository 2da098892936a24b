// Makes a double strict: using an option, method or property that the real library does not have is an error. For tests only.

/** Throws if the object has keys other than the known ones. */
export function onlyKeys(what: string, given: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null) throw new TypeError(`${what} takes an object`);
  const odd = Object.keys(given).find((key) => !known.includes(key));
  if (odd !== undefined) throw new Error(`${what} has no option ${odd}`);
  return given as Readonly<Record<string, unknown>>;
}

export function wholeNumber(what: string, given: unknown, min: number): number {
  if (typeof given !== 'number' || !Number.isInteger(given) || given < min) throw new Error(`${what} must be a whole number from ${min}`);
  return given;
}

const shells = new WeakMap<object, object>();

/** Wraps the object in a proxy that throws when a property is read that it does not have. */
export function strict<T extends object>(what: string, target: T): T {
  const shell = new Proxy(target, {
    get(_target, key) {
      if (typeof key === 'symbol' || key === 'then') return undefined;
      if (!(key in target)) throw new Error(`${what} has no ${key}`);
      const value = Reflect.get(target, key, target) as unknown;
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
    set(_target, key) {
      throw new Error(`${what}.${String(key)} is read only`);
    },
  });
  shells.set(shell, target);
  return shell;
}

/** The wrapped object; null if it is not such a proxy. */
export function inside(shell: unknown): object | null {
  return typeof shell === 'object' && shell !== null ? (shells.get(shell) ?? null) : null;
}
