// Configures the double of the engine and installs it into a data folder: files at the paths of the real packages load the double, so that
// the real child process loads it in the real way. For tests only.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { engineFolder, engineTarget } from '../../../core/mind/llm/llm.ts';

export interface EngineKnobs {
  /** The time one token takes. */
  readonly tokenMs?: number;
  /** Aborts like a crashing native library after this many tokens of an answer. */
  readonly abortAfter?: number;
  /** Blocks the whole process after this many tokens of an answer. */
  readonly hangAfter?: number;
  readonly atLoad?: 'abort' | 'hang' | 'refuse';
  /** The largest context that fits into memory. */
  readonly contextTokens?: number;
  readonly refusesGrammars?: boolean;
}

/** Can be called again with other knobs, which the next child uses. */
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
  // A folder with this name is loaded like a module; a native library would have to be compiled.
  const binary = `@node-llama-cpp/${target}/bins/${target}`;
  write(`${binary}/llama-addon.node/index.js`, 'module.exports = { isAddonDouble: true };\n');
  write(`${binary}/_nlcBuildMetadata.json`, '{"buildOptions":{}}');
}
