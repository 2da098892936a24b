// Bundles everything that runs under Node: ES modules with lazily loaded chunks; only native addons and Electron stay external.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lazyZod } from './lazy-zod.ts';
import { startChunks } from './start-chunks.ts';
import type { InlineConfig, Plugin } from 'vite';

/**
 * Native addons and packages that start other programs cannot be bundled. These are the dependencies in package.json; everything else is
 * bundled.
 */
export const externalPackages = ['better-sqlite3', 'keytar', '@lydell/node-pty', '@anthropic-ai/sandbox-runtime', 'sqlite-vec'];

/** `input`: entry name to source file. */
export function nodeBundle(root: string, input: Record<string, string>, format: 'es' | 'cjs'): InlineConfig {
  return {
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    plugins: [formsAsData(root), lazyZod, sharedZod(root), withoutUnused(root), slimBuiltins],
    ssr: { noExternal: true },
    // The wasm of ssh2's ciphers reads the folder of its file, which a CommonJS package expects and an ES module does not have.
    ...(format === 'es' && { define: { __dirname: 'import.meta.dirname' } }),
    build: {
      ssr: true,
      write: false,
      target: 'node22',
      // Measured: with a compile cache, minified code does not start faster. The code below still shrinks by a third: white space is
      // removed and local names are shortened. Functions and classes keep their names for stack traces.
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        checks: { bundlerTimings: false },
        input,
        external: [/^node:(?!(?:http|process|util)$)/, /^electron(\/|$)/, ...externalPackages],
        output: {
          format,
          // The parts are whole: what a module of one needs is in it, or in one that it shares.
          ...(format === 'es' && {
            codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: startChunks(root), debugName: 'start' }] },
          }),
          minify: { compress: true, mangle: { toplevel: false, keepNames: true }, codegen: { removeWhitespace: true } },
          entryFileNames: format === 'es' ? '[name].js' : '[name].cjs',
          chunkFileNames: (chunk) => `chunks/${chunkName(chunk)}-[hash].js`,
          banner: (chunk) => (chunk.isEntry && chunk.name === 'cli' ? '#!/usr/bin/env node' : ''),
        },
      },
    },
  };
}

/** Converts a path to the form the bundler uses, on Windows too. */
const slashed = (path: string) => path.replaceAll('\\', '/');

/** Bundles the words and commands of the operations as data without their schemas, so that help and completion need not load schemas. */
export function formsAsData(root: string): { name: string; load: (id: string) => Promise<string | null> } {
  const file = join(root, 'core/contracts/op-forms.ts');
  return {
    name: 'forms-as-data',
    async load(id) {
      if (slashed(id) !== slashed(file)) return null;
      const { opForms, familyHelp } = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
      return `export const opForms = ${JSON.stringify(opForms)};\nexport const familyHelp = ${JSON.stringify(familyHelp)};`;
    },
  };
}

/**
 * Shares equal parts of schemas: 4,000 objects at the start of a server instead of 10,000. Applied only in the bundle: the meaning is
 * unchanged, and the declarations refer to zod itself.
 */
function sharedZod(root: string): Plugin {
  const file = slashed(join(root, 'core/base/shared-zod.ts'));
  const own = ['core/', 'main/'].map((folder) => slashed(join(root, folder)));
  return {
    name: 'shared-zod',
    enforce: 'pre' as const,
    resolveId(id, importer) {
      const from = slashed(importer ?? '');
      const isOwn = id === 'zod' && from !== file && own.some((folder) => from.startsWith(folder));
      return isOwn ? file : null;
    },
  };
}

/** Replaces or leaves out packages, by name. */
const instead: Record<string, string | undefined> = {
  'unpdf/pdfjs': '\0pdfjs',
  'zlib-sync': '\0not-built',
  pino: '\0no-logger',
  socks: '\0no-proxy',
  '@vladfrangu/async_event_emitter': '\0emitter',
};

/** Reads East Asian character sets with Node's own decoder, because the tables of iconv-lite are large. Encoding is not supported. */
export const nodeCharsets = `
const labels = { shiftjis: 'shift_jis', eucjp: 'euc-jp', cp936: 'gbk', cp949: 'euc-kr', cp950: 'big5', big5hkscs: 'big5' };
exports._dbcs = class {
  constructor({ encodingName }) {
    const label = labels[encodingName] ?? encodingName;
    this.decoder = class {
      #decoder = new TextDecoder(label);
      write(bytes) { return this.#decoder.decode(bytes, { stream: true }); }
      end() { return this.#decoder.decode(); }
    };
    this.encoder = class { constructor() { throw new Error('not built'); } };
  }
};`;

/** Only the client and the pool of undici: the whole package loads its fetch, caches and proxies. */
const undiciClient = `
const Dispatcher = require('./lib/dispatcher/dispatcher');
Dispatcher.prototype.request = require('./lib/api/api-request');
exports.Client = require('./lib/dispatcher/client');
exports.Pool = require('./lib/dispatcher/pool');`;

/**
 * Unused parts of packages that a bundler cannot recognise as unused. The validator of the MCP client is half of that package, generates
 * code from data a server sends, and is never created: the client uses another one (core/features/mcp/connection.ts).
 */
const leftOut = [
  {
    of: /\/@modelcontextprotocol\/(?:client|server)\/dist\/ajvProvider-[^/]+\.mjs$/,
    code: "export class n { constructor() { throw new Error('MCP needs a validator.'); } }",
  },
  // The window draws PDF files with the same file, so it is not bundled into a chunk.
  {
    of: /^\0pdfjs$/,
    code: "const file = '../renderer/pdfjs.js';\nexport const { getDocument } = await import(new URL(file, import.meta.url).href);",
  },
  { of: /^\0not-built$/, code: "throw new Error('not built');" },
  // The mail client uses no logger and no proxy.
  { of: /^\0no-logger$/, code: "export default () => { throw new Error('not built'); };" },
  { of: /^\0no-proxy$/, code: "export class SocksClient { static createConnection() { throw new Error('not built'); } }" },
  // Node decodes these character sets.
  {
    of: /\/encoding-japanese\/src\/index\.js$/,
    code: "export default { convert: (bytes, { from }) => new TextDecoder(/^euc/i.test(from) ? 'euc-jp' : 'iso-2022-jp').decode(bytes) };",
  },
  { of: /\/iconv-lite\/encodings\/tables\/[\w-]+\.json$/, code: '[]' },
  { of: /\/iconv-lite\/encodings\/dbcs-codec\.js$/, code: nodeCharsets },
  { of: /\/nodemailer\/lib\/well-known\/services\.json$/, code: '{}' },
  { of: /\/discord-api-types\/(?:rpc\/[\w/]+|rest\/common|payloads\/v10\/(?!index)\w+)\.js$/, code: 'module.exports = {};' },
  // Only the parts of this emitter that Node's has as well are used.
  { of: /^\0emitter$/, code: "export { EventEmitter as AsyncEventEmitter } from 'node:events';" },
  // Faster ssh ciphers in native code, which is not built: nothing here transfers that much data.
  { of: /\/cpu-features\/lib\/index\.js$/, code: "throw new Error('not built');" },
  { of: /\/undici\/index\.js$/, code: undiciClient },
  // HTTP/2 and a second HTTP parser, both disabled by the users of undici.
  { of: /\/undici\/lib\/dispatcher\/client-h2\.js$/, code: "module.exports = () => { throw new Error('not built'); };" },
  { of: /\/undici\/lib\/milo\/(?:no-)?simd\.js$/, code: "throw new Error('not built');" },
];

/**
 * Removes unused code. Discord's REST client includes a separate HTTP client for Node unless it is resolved as for a browser, where it
 * uses fetch.
 */
function withoutUnused(root: string): Plugin {
  return {
    name: 'without-unused',
    enforce: 'pre' as const,
    load: (id) => leftOut.find(({ of }) => of.test(slashed(id)))?.code ?? null,
    resolveId: (id) => {
      if (id === '@discordjs/rest') return join(root, 'node_modules/@discordjs/rest/dist/web.mjs');
      // The mail packages import it in two forms.
      if (id === 'libmime') return join(root, 'node_modules/libmime/dist/cjs/libmime.js');
      return id.endsWith('sshcrypto.node') ? '\0not-built' : (instead[id] ?? null);
    },
  };
}

/**
 * Replaces imports of some modules of Node. A normal import reads each exported name, and some of these load what the program does not
 * use: node:http loads fetch and WebSocket (50 ms and 13 MB), node:process and node:util take 6 ms each. getBuiltinModule loads none of
 * that. `require` reads no names, so it is left unchanged.
 */
const slimBuiltins: Plugin = {
  name: 'slim-builtins',
  enforce: 'pre',
  resolveId: (id, _importer, { kind }) => {
    const name = /^(?:node:)?(http|process|util)$/.exec(id)?.[1];
    if (name === undefined) return null;
    return kind === 'require-call' ? { id: `node:${name}`, external: true } : `\0node-${name}`;
  },
  load: (id) => {
    const name = /^\0node-(http|process|util)$/.exec(id)?.[1];
    if (name === undefined) return null;
    const names = Object.keys(process.getBuiltinModule(`node:${name}`) ?? {}).filter((key) => /^\w+$/.test(key));
    // Only names that something imports stay in the bundle and are read.
    const reads = names.map((key) => `export const ${key} = /* @__PURE__ */ read('${key}');`);
    return [
      `const own = process.getBuiltinModule('node:${name}');`,
      'const read = (key) => own[key];',
      'export default own;',
      ...reads,
    ].join('\n');
  },
};

/** Names a chunk that consists of one package after the package, so that stack traces are readable. */
function chunkName(chunk: { name: string; moduleIds: string[] }) {
  const packageName = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(slashed(chunk.moduleIds.at(-1) ?? ''))?.[1];
  return packageName?.replace('@', '').replace('/', '-') ?? chunk.name;
}
