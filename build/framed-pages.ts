// Builds the pages that draw diagrams and PDF files. Each is one HTML file, because it may load nothing. The libraries are inserted
// unchanged, because bundling breaks the diagram library.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as Vite from 'vite';

export const diagramPageFile = 'diagram.html';
/**
 * A separate file because Node reads it as well (vite.node.ts); the host inserts it into the page when the page is requested
 * (core/doors/http/framed-page.ts).
 */
export const pdfLibraryFile = 'pdfjs.js';
const LIBRARY = 'node_modules/@mermaid-js/tiny';

export async function diagramPage(vite: typeof Vite, root: string): Promise<string> {
  const result = await vite.build({
    configFile: false,
    logLevel: 'warn',
    root,
    build: {
      write: false,
      target: ['chrome130', 'firefox130', 'safari18'],
      lib: { entry: join(root, 'renderer/diagram/draw-diagram.ts'), formats: ['iife'], name: 'diagram' },
    },
  });
  const output = [result].flat().flatMap((part) => ('output' in part ? part.output : []));
  const script = output.find((part) => part.type === 'chunk')?.code;
  if (script === undefined) throw new Error('the script of the diagram page was not built');
  const library = readFileSync(join(root, LIBRARY, 'dist/mermaid.tiny.js'), 'utf8');
  return [
    '<!doctype html>',
    '<meta charset="utf-8">',
    '<title>Diagram</title>',
    '<style>html,body{margin:0;height:100%;overflow:hidden;background:transparent}body>div{height:100%}svg{display:block}</style>',
    `<script>${inPage(library)}</script>`,
    `<script>${inPage(script)}</script>`,
    '',
  ].join('\n');
}

export const pdfLibrary = (root: string) => inPage(readFileSync(join(root, 'node_modules/unpdf/dist/pdfjs.mjs'), 'utf8'));

/** The folder of the package inside the page, for its licence notice. */
export const diagramLibrary = (root: string) => join(root, LIBRARY);

/**
 * Escapes `<!--` and script tags, which would end the script or change how it is parsed. They occur only inside strings and patterns,
 * where the escape means the same.
 */
function inPage(code: string) {
  return code.replaceAll(/<(?=!--|\/?script)/gi, String.raw`\x3c`);
}
