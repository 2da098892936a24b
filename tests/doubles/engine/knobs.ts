// How the double of the engine behaves, and its installation into a data folder: files in the places of the real packages that lead to the
// double, so that the real child process loads it in the real way. For tests only.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { engineFolder, engineTarget } from '../../../core/mind/llm/llm.ts';

export interface EngineKnobs {
  /** The time a token takes. */
  readonly tokenMs?: number;
  /** As a crash of the native library does, after so many tokens of an answer. */
  readonly abortAfter?: number;
  /** Blocks the whole process after so many tokens of an answer. */
  readonly hangAfter?: number;
  readonly atLoad?: 'abort' | 'hang' | 'refuse';
  /** The memory has room for no more than this. */
  readonly contextTokens?: number;
  readonly refusesGrammars?: boolean;
}

/** Again with other knobs: the next child has them. */
export function installEngineDouble(home: string, knobs: EngineKnobs = {}): void {
  const modules = join(engineFolder(home), 'node_modules');
  const double = (file: string): string => JSON.stringify(new URL(`./${file}`, import.meta.url).href);
  const target = engineTarget(process.platform, process.arch) ?? 'none';
  const write = (path: string, text: string): void => {
    const file = join(modules, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
  };
  for (const name of ['node-llama-cpp', '@huggingface/jinja']) write(`${name}/package.json`, '{"type":"module"}');
  const llama = `import { engineDouble } from ${double('llama.ts')};\nexport const Llama = engineDouble(${JSON.stringify(knobs)});\n`;
  write('node-llama-cpp/dist/bindings/Llama.js', llama);
  write(
    'node-llama-cpp/dist/evaluator/LlamaGrammarEvaluationState.js',
    `export { GrammarState as LlamaGrammarEvaluationState } from ${double('llama.ts')};\n`,
  );
  write('@huggingface/jinja/dist/index.js', `export { Template } from ${double('template.ts')};\n`);
  // A folder with this name is loaded as a module is; a native library would have to be compiled.
  const binary = `@node-llama-cpp/${target}/bins/${target}`;
  write(`${binary}/llama-addon.node/index.js`, 'module.exports = { isAddonDouble: true };\n');
  write(`${binary}/_nlcBuildMetadata.json`, '{"buildOptions":{}}');
}
