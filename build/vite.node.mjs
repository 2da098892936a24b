// The bundling of everything that runs under Node: ES modules, lazy chunks; only native addons and Electron stay external.

/** Native addons and what starts other programs cannot be bundled: these are the dependencies of package.json, everything else is bundled. */
export const externalPackages = ['better-sqlite3', 'keytar', '@lydell/node-pty', '@anthropic-ai/sandbox-runtime', 'sqlite-vec'];

/**
 * @param {string} root
 * @param {Record<string, string>} input entry name to source file
 * @param {'es' | 'cjs'} format
 * @returns {import('vite').InlineConfig}
 */
export function nodeBundle(root, input, format) {
  return {
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      write: false,
      target: 'node24',
      // Measured: with a compile cache, minified code starts no sooner, and stack traces would lose their names. Only white space is
      // removed (below): a quarter of the package.
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input,
        external: [/^node:/, /^electron(\/|$)/, ...externalPackages],
        output: {
          format,
          minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
          entryFileNames: format === 'es' ? '[name].js' : '[name].cjs',
          chunkFileNames: (chunk) => `chunks/${chunkName(chunk)}-[hash].js`,
          banner: (chunk) => (chunk.isEntry && chunk.name === 'cli' ? '#!/usr/bin/env node' : ''),
        },
      },
    },
  };
}

/**
 * A chunk made of one package is named after it, so that a stack trace says where it was.
 * @param {{ name: string, moduleIds: string[] }} chunk
 */
function chunkName(chunk) {
  const packageName = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(chunk.moduleIds.at(-1)?.replaceAll('\\', '/') ?? '')?.[1];
  return packageName?.replace('@', '').replace('/', '-') ?? chunk.name;
}
