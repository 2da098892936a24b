// Lists the exact content of the packaged app and of the npm package: the built files that their programs load and, for the app, the
// runtime files of modules that cannot be bundled, with the native code of one platform and processor.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { readStamp } from './freshness.mjs';
import { noticesFile } from './license-notices.ts';

export type PackedPlatform = 'darwin' | 'linux' | 'win32';

/** The worker threads that read pages and documents, and the process that runs GGUF files. */
const workers = ['page-worker.js', 'document-worker.js', 'engine-child.js'];
/** The app's entry points: its program, and the scripts that load before the window's page. */
const appEntries = ['desktop.js', 'preload.cjs', ...workers];
/**
 * The npm package's entry points: the command line, its daemon and the library. The package includes the window, for use in a browser, but
 * not the desktop.
 */
export const packageEntries = ['cli.js', 'daemon.js', 'index.js', ...workers];
const LOCAL_IMPORT = /["'`](\.{1,2}\/[\w./-]+\.c?js)["'`]/g;

/** Paths relative to the root. Leaves out files of earlier builds, files these programs do not load, and source maps. */
export function packedOutput(root: string, entries: readonly string[] = appEntries): string[] {
  const built = new Set(readStamp(root)?.files ?? []);
  const missing = [...entries, noticesFile].filter((entry) => !built.has(entry));
  if (missing.length > 0) throw new Error(`dist/ lacks ${missing.join(', ')}; build first`);
  const reached = new Set(entries);
  for (const file of reached) {
    const text = readFileSync(join(root, 'dist', file), 'utf8');
    for (const [, target] of text.matchAll(LOCAL_IMPORT)) {
      const path = posix.join(dirname(file), target ?? '');
      if (built.has(path)) reached.add(path);
    }
  }
  // Compressed files are for browsers that use a network connection, which the app's own window does not.
  const window = [...built].filter((path) => path.startsWith('renderer/') && !/\.(?:map|br)$/.test(path));
  return [...new Set([...reached, ...window, noticesFile])].sort().map((path) => `dist/${path}`);
}

/** Folders below node_modules, each with patterns of the needed files. The packer replaces `${arch}`. */
export function packedModules(platform: PackedPlatform): Record<string, string[]> {
  return {
    'better-sqlite3': ['package.json', 'LICENSE', 'lib/*.js', 'lib/methods/*.js', `prebuilds/${platform}-\${arch}.node`],
    'sqlite-vec': ['package.json', 'LICENSE*', '*.cjs', '*.mjs'],
    [`sqlite-vec-${platform === 'win32' ? 'windows' : platform}-\${arch}`]: ['**/*', '!README.md'],
    keytar: ['package.json', 'LICENSE.md', 'lib/keytar.js', `prebuilds/${platform}-\${arch}/keytar.node`],
    '@lydell/node-pty': ['package.json', 'LICENSE', '*.js', 'shared/*.js', 'worker/*.js'],
    [`@lydell/node-pty-${platform}-\${arch}`]: ['**/*', '!README.md'],
    '@anthropic-ai/sandbox-runtime': ['package.json', 'LICENSE', 'dist/**/*.js', '!dist/cli.js', 'vendor/java-proxy-agent/*.jar'],
    '@anthropic-ai/sandbox-runtime/node_modules/zod': ['package.json', 'LICENSE', 'v3/**/*.js'],
    '@pondwader/socks5-server': ['package.json', 'LICENSE', 'dist/*.js'],
    // Omits the HTTP client for browsers, which nothing here requires.
    'node-forge': [
      'package.json',
      'LICENSE',
      'lib/*.js',
      ...['form', 'http', 'index.all', 'socket', 'tlssocket', 'xhr'].map((name) => `!lib/${name}.js`),
    ],
  };
}

/** Native code and programs must be separate files: neither the loader nor another program can read inside the archive. */
export const unpackedPatterns = [
  '**/*.node',
  'node_modules/sqlite-vec-*/**',
  'node_modules/@lydell/node-pty-*/**',
  'node_modules/@anthropic-ai/sandbox-runtime/vendor/**',
  'skills/**',
];

/**
 * Lists missing files without which the app would start and then fail: npm installs only those of the machine it runs on. Returns the
 * missing ones.
 */
export function missingNativeFiles(root: string, platform: PackedPlatform, arch: string): string[] {
  return [
    `better-sqlite3/prebuilds/${platform}-${arch}.node`,
    `keytar/prebuilds/${platform}-${arch}/keytar.node`,
    `@lydell/node-pty-${platform}-${arch}/package.json`,
    `sqlite-vec-${platform === 'win32' ? 'windows' : platform}-${arch}/package.json`,
  ]
    .map((path) => `node_modules/${path}`)
    .filter((path) => !existsSync(join(root, path)));
}
