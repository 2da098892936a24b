// The imports of a built file, read from its text.

const declared = String.raw`(?:^|[;}])(?:import|export)\b[^"'\`;]*"([^"]+)"`;

/** The imports that are loaded together with the file. */
export function staticImportsOf(text: string): string[] {
  return [...text.matchAll(new RegExp(declared, 'gm'))].map(([, specifier]) => specifier ?? '');
}

/**
 * Imports in the form the bundler writes them. Comments quote with single quotes; a call at the start of a string is code that a library
 * generates.
 */
export function importsOf(text: string): string[] {
  const calls = String.raw`(?<![\`"'])\b(?:import|__require|require|createRequire\(import\.meta\.url\))\(["\`]([^"\`$]+)["\`]\)`;
  return [...text.matchAll(new RegExp(`${declared}|${calls}`, 'gm'))].map(([, stated, called]) => stated ?? called ?? '');
}
