// The two worlds of a page, as source text that runs in it. The preload script runs in a separate world that shares only the document;
// contextBridge puts frozen copies into the page's world. The worlds communicate through events with a secret name. Behaviour follows
// Electron's documentation: "Context Isolation", "contextBridge", "Process Sandboxing".

import { codecSource } from './structured.ts';

/** Both ends of the bridge: values are copied, functions and promises are represented by proxies. */
const bridgeEndSource = `
  const createEnd = (codec, send) => {
    const functions = new Map(), calls = new Map(), answers = new Map(); let last = 0;
    const DEPTH_MAX = 1000;
    const isPlain = (value) => { const prototype = Object.getPrototypeOf(value); return prototype === null || !(value instanceof Date || value instanceof RegExp || value instanceof Map || value instanceof Set || value instanceof ArrayBuffer || ArrayBuffer.isView(value) || value instanceof Error); };
    const out = (value, depth = 0, seen = new Map()) => {
      if (depth >= DEPTH_MAX) throw new TypeError('Electron contextBridge recursion depth exceeded.  Nested objects deeper than 1000 are not supported.');
      if (typeof value === 'function') { functions.set(++last, value); return { f: last }; }
      if (value instanceof Promise) {
        const promise = ++last;
        value.then((done) => send({ kind: 'settled', promise, value: out(done) }), (cause) => send({ kind: 'settled', promise, error: String(cause?.message ?? cause) }));
        return { p: promise };
      }
      if (Array.isArray(value)) return { a: value.map((part) => out(part, depth + 1)) };
      // "sending custom classes will copy values but not the prototype"
      if (value !== null && typeof value === 'object' && isPlain(value)) return { o: Object.keys(value).map((key) => [key, out(value[key], depth + 1)]) };
      if (value instanceof Error) return { e: value.message };
      if (typeof value === 'symbol') throw new Error('An object could not be cloned.');
      return { v: value };
    };
    const into = (item, freeze = false) => {
      if (item.f !== undefined) return remote(item.f);
      if (item.p !== undefined) return new Promise((resolve, reject) => calls.set(item.p, { resolve, reject }));
      if (item.a !== undefined) { const made = item.a.map((part) => into(part, freeze)); return freeze ? Object.freeze(made) : made; }
      if (item.o !== undefined) {
        const made = {};
        for (const [key, part] of item.o) Object.defineProperty(made, key, { value: into(part, freeze), enumerable: true, configurable: true, writable: true });
        return freeze ? Object.freeze(made) : made;
      }
      if ('e' in item) return new Error(item.e);
      return item.v;
    };
    const remote = (id) => (...args) => {
      const call = ++last;
      send({ kind: 'call', call, id, args: args.map((one) => out(one)) });
      const answer = answers.get(call); answers.delete(call);
      if (answer === undefined) throw new Error('the bridge did not answer');
      if (answer.error !== undefined) throw new Error(answer.error);
      return into(answer.value);
    };
    const receive = (message) => {
      if (message.kind === 'answer') answers.set(message.call, message);
      else if (message.kind === 'settled') { const call = calls.get(message.promise); calls.delete(message.promise); if (message.error === undefined) call?.resolve(into(message.value)); else call?.reject(new Error(message.error)); }
      else if (message.kind === 'call') {
        try { send({ kind: 'answer', call: message.call, value: out(functions.get(message.id)(...message.args.map((one) => into(one)))) }); }
        catch (cause) { send({ kind: 'answer', call: message.call, error: String(cause?.message ?? cause) }); }
      }
    };
    return { out, into, receive };
  };`;

/** Runs in the page's own world before any script of the page. */
export function pageWorldSource(secret: string): string {
  return `(() => {
  const secret = ${JSON.stringify(secret)};
  const codec = ${codecSource};
  ${bridgeEndSource}
  const dispatch = window.dispatchEvent.bind(window), listen = window.addEventListener.bind(window);
  const Custom = CustomEvent;
  // The request is denied in the app, but only after this returns.
  const open = window.open.bind(window); window.open = (...args) => { open(...args); return null; };
  const end = createEnd(codec, (message) => dispatch(new Custom(secret + ':in', { detail: codec.encode(message) })));
  // A hidden or minimised window reports this to its page; the underlying browser is never really hidden.
  let state = 'visible';
  Object.defineProperty(Document.prototype, 'visibilityState', { get: () => state, configurable: true });
  Object.defineProperty(Document.prototype, 'hidden', { get: () => state === 'hidden', configurable: true });
  listen(secret + ':out', (event) => {
    const message = codec.decode(event.detail);
    if (message.kind === 'expose') Object.defineProperty(window, message.name, { value: end.into(message.value, true), enumerable: true });
    else if (message.kind === 'visibility') { if (message.state !== state) { state = message.state; document.dispatchEvent(new Event('visibilitychange', { bubbles: true })); } }
    else end.receive(message);
  });
})();`;
}

/**
 * Runs in the preload world before any script of the page: the few modules that a sandboxed preload script may require, then the script.
 */
export function preloadWorldSource(secret: string, script: string): string {
  return `(() => {
  const secret = ${JSON.stringify(secret)};
  const codec = ${codecSource};
  ${bridgeEndSource}
  const host = globalThis.__host; delete globalThis.__host;
  let last = 0; const waits = new Map();
  const send = (message) => window.dispatchEvent(new CustomEvent(secret + ':out', { detail: codec.encode(message) }));
  const end = createEnd(codec, send);
  window.addEventListener(secret + ':in', (event) => end.receive(codec.decode(event.detail)));
  const exposed = new Set();
  const contextBridge = Object.freeze({ exposeInMainWorld(name, api) {
    if (exposed.has(name) || name in window) throw new Error('Cannot bind an API on top of an existing property on the window object');
    exposed.add(name); send({ kind: 'expose', name, value: end.out(api) });
  } });
  const encode = (value) => { try { return codec.encode(value); } catch { throw new Error('An object could not be cloned.'); } };
  class EventEmitter {
    #listeners = new Map();
    on(name, listener) { this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]); return this; }
    addListener(name, listener) { return this.on(name, listener); }
    once(name, listener) { const wrapped = (...args) => { this.off(name, wrapped); listener.apply(this, args); }; wrapped.listener = listener; return this.on(name, wrapped); }
    off(name, listener) { this.#listeners.set(name, (this.#listeners.get(name) ?? []).filter((one) => one !== listener && one.listener !== listener)); return this; }
    removeListener(name, listener) { return this.off(name, listener); }
    removeAllListeners(name) { if (name === undefined) this.#listeners.clear(); else this.#listeners.delete(name); return this; }
    listenerCount(name) { return (this.#listeners.get(name) ?? []).length; }
    emit(name, ...args) { const all = this.#listeners.get(name) ?? []; for (const listener of all) listener.apply(this, args); return all.length > 0; }
  }
  class IpcRenderer extends EventEmitter {
    async invoke(channel, ...args) {
      const body = encode(args);
      return new Promise((resolve, reject) => { const id = ++last; waits.set(id, { channel, resolve, reject }); host(JSON.stringify({ kind: 'invoke', id, channel, body })); });
    }
    send(channel, ...args) { host(JSON.stringify({ kind: 'send', id: 0, channel, body: encode(args) })); }
  }
  const ipcRenderer = new IpcRenderer();
  globalThis.__fromHost = (message) => {
    if (message.kind === 'visibility') send(message);
    else if (message.kind === 'reply') {
      const wait = waits.get(message.id); waits.delete(message.id);
      if (message.error === undefined) wait?.resolve(codec.decode(message.body)); else wait?.reject(new Error("Error invoking remote method '" + wait.channel + "': " + message.error));
    } else ipcRenderer.emit(message.channel, { sender: ipcRenderer, ports: [] }, ...codec.decode(message.body));
  };
  const events = Object.assign(EventEmitter, { EventEmitter });
  const timers = { setTimeout: (...args) => window.setTimeout(...args), clearTimeout: (id) => window.clearTimeout(id), setInterval: (...args) => window.setInterval(...args), clearInterval: (id) => window.clearInterval(id) };
  const url = { URL, URLSearchParams };
  const modules = new Map([['electron', Object.freeze({ contextBridge, ipcRenderer })], ['events', events], ['node:events', events], ['timers', timers], ['node:timers', timers], ['url', url], ['node:url', url]]);
  const require = (name) => { if (modules.has(name)) return modules.get(name); throw new Error('module not found: ' + name); };
  const module = { exports: {} };
  (function (require, module, exports, process) {${script}
  })(require, module, module.exports, Object.freeze({ platform: 'linux', type: 'renderer', sandboxed: true, contextIsolated: true }));
})();`;
}
