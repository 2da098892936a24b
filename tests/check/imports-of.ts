// The imports of a built file, read from its text.

/** In the form the bundler writes them; comments quote with single quotes. A call at the start of a string is code that a library writes. */
export function importsOf(text: string): string[] {
  const statements = /(?:^|[;}])(?:import|export)\b[^"'`;]*"([^"]+)"|(?<![`"'])\b(?:import|__require|require)\(["`]([^"`$]+)["`]\)/gm;
  return [...text.matchAll(statements)].map(([, declared, called]) => declared ?? called ?? '');
}
