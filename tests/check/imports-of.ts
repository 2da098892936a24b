// The imports of a built file, read from its text.

const declared = String.raw`(?:^|[;}])(?:import|export)\b[^"'\`;]*"([^"]+)"`;

/** Those that are loaded with the file itself. */
export function staticImportsOf(text: string): string[] {
  return [...text.matchAll(new RegExp(declared, 'gm'))].map(([, specifier]) => specifier ?? '');
}

/** In the form the bundler writes them; comments quote with single quotes. A call at the start of a string is code that a library writes. */
export function importsOf(text: string): string[] {
  const calls = String.raw`(?<![\`"'])\b(?:import|__require|require)\(["\`]([^"\`$]+)["\`]\)`;
  return [...text.matchAll(new RegExp(`${declared}|${calls}`, 'gm'))].map(([, stated, called]) => stated ?? called ?? '');
}
