// The two worlds of a page, as text that runs in it. The preload script lives in a world of its own that shares the document and nothing
// else; contextBridge leaves frozen copies in the page's world. They speak by events whose name only they know.
// Behaviour after Electron's documentation: "Context Isolation", "contextBridge", "Process Sandboxing".

/** Runs in the page's own world before any script of the page. */
export function pageWorldSource(secret: string): string {
  return `(() => {
  const secret = ${JSON.stringify(secret)};
  const callbacks = new Map(); let last = 0;
  const calls = new Map();
  const target = new EventTarget();
  const dispatch = window.dispatchEvent.bind(window), listen = window.addEventListener.bind(window);
  const Custom = CustomEvent;
  const send = (detail) => dispatch(new Custom(secret + ':in', { detail: JSON.stringify(detail) }));
  const out = (value) => typeof value === 'function' ? (callbacks.set(++last, value), { $callback: last }) : { $value: structuredClone(value) };
  const back = (item, path) => item.$remote !== undefined ? remote(item.$remote) : item.$value;
  const remote = (id) => (...args) => { const call = ++last; return new Promise((resolve, reject) => { calls.set(call, { resolve, reject }); send({ kind: 'call', call, id, args: args.map(out) }); }); };
  const shape = (item) => {
    if (item.$remote !== undefined) return item.$sync ? syncRemote(item.$remote) : remote(item.$remote);
    if (item.$object !== undefined) { const made = {}; for (const [key, part] of Object.entries(item.$object)) Object.defineProperty(made, key, { value: shape(part), enumerable: true }); return Object.freeze(made); }
    return item.$value;
  };
  // A bridge function answers at once: the other world handles the event before dispatch returns.
  const answers = new Map();
  const syncRemote = (id) => (...args) => {
    const call = ++last; send({ kind: 'sync', call, id, args: args.map(out) });
    const answer = answers.get(call); answers.delete(call);
    if (answer === undefined) throw new Error('the bridge did not answer');
    if (answer.error !== undefined) throw new Error(answer.error);
    if (answer.promise !== undefined) return new Promise((resolve, reject) => calls.set(answer.promise, { resolve, reject }));
    return shape(answer.value);
  };
  listen(secret + ':out', (event) => {
    const message = JSON.parse(event.detail);
    if (message.kind === 'expose') Object.defineProperty(window, message.name, { value: shape(message.value), enumerable: true });
    else if (message.kind === 'answer') answers.set(message.call, message);
    else if (message.kind === 'settled') { const call = calls.get(message.promise); calls.delete(message.promise); message.error === undefined ? call?.resolve(shape(message.value)) : call?.reject(new Error(message.error)); }
    else if (message.kind === 'callback') callbacks.get(message.id)?.(...message.args.map(shape));
  });
})();`;
}

/** Runs in the preload world before any script of the page: the few modules a sandboxed preload script may ask for, then the script. */
export function preloadWorldSource(secret: string, script: string): string {
  return `(() => {
  const secret = ${JSON.stringify(secret)};
  const host = globalThis.__host; delete globalThis.__host;
  const functions = new Map(); let last = 0;
  const waits = new Map(); const listeners = new Map();
  const clonable = (value) => structuredClone(value);
  const send = (detail) => window.dispatchEvent(new CustomEvent(secret + ':out', { detail: JSON.stringify(detail) }));
  const out = (value) => {
    if (typeof value === 'function') { functions.set(++last, value); return { $remote: last, $sync: true }; }
    if (value !== null && typeof value === 'object' && !Array.isArray(value) && Object.getPrototypeOf(value) === Object.prototype && Object.values(value).some((part) => typeof part === 'function'))
      return { $object: Object.fromEntries(Object.entries(value).map(([key, part]) => [key, out(part)])) };
    return { $value: clonable(value) };
  };
  const into = (item) => item.$callback !== undefined ? (...args) => send({ kind: 'callback', id: item.$callback, args: args.map(out) }) : item.$value;
  window.addEventListener(secret + ':in', (event) => {
    const message = JSON.parse(event.detail);
    try {
      const value = functions.get(message.id)(...message.args.map(into));
      if (value instanceof Promise) {
        const promise = ++last;
        send({ kind: 'answer', call: message.call, promise });
        value.then((done) => send({ kind: 'settled', promise, value: out(done) }), (cause) => send({ kind: 'settled', promise, error: String(cause?.message ?? cause) }));
      } else send({ kind: 'answer', call: message.call, value: out(value) });
    } catch (cause) { send({ kind: 'answer', call: message.call, error: String(cause?.message ?? cause) }); }
  });
  let exposed = new Set();
  const contextBridge = Object.freeze({ exposeInMainWorld(name, api) {
    if (exposed.has(name) || name in window) throw new Error('Cannot bind an API on top of an existing property on the window object');
    exposed.add(name); send({ kind: 'expose', name, value: out(api) });
  } });
  const check = (value) => { try { structuredClone(value); } catch { throw new TypeError('An object could not be cloned.'); } return value; };
  const ipcRenderer = {
    invoke(channel, ...args) {
      return new Promise((resolve, reject) => { check(args); const id = ++last; waits.set(id, { channel, resolve, reject }); host(JSON.stringify({ kind: 'invoke', id, channel, args })); });
    },
    send(channel, ...args) { check(args); host(JSON.stringify({ kind: 'send', channel, args })); },
    on(channel, listener) { (listeners.get(channel) ?? listeners.set(channel, new Set()).get(channel)).add(listener); return ipcRenderer; },
    removeListener(channel, listener) { listeners.get(channel)?.delete(listener); return ipcRenderer; },
  };
  globalThis.__fromHost = (message) => {
    if (message.kind === 'reply') {
      const wait = waits.get(message.id); waits.delete(message.id);
      if (message.error === undefined) wait?.resolve(message.value); else wait?.reject(new Error("Error invoking remote method '" + wait.channel + "': " + message.error));
    } else for (const listener of listeners.get(message.channel) ?? []) listener({ sender: ipcRenderer, ports: [] }, ...message.args);
  };
  const modules = { electron: Object.freeze({ contextBridge, ipcRenderer }) };
  const require = (name) => { if (name in modules) return modules[name]; throw new Error('module not found: ' + name); };
  const module = { exports: {} };
  (function (require, module, exports, process) {${script}
  })(require, module, module.exports, Object.freeze({ platform: 'linux', type: 'renderer', sandboxed: true, contextIsolated: true }));
})();`;
}
