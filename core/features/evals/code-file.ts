// Cases that a TypeScript or JavaScript file exports as its default. The file runs in a separate process, confined like a command with its
// folder as the workspace, and returns only data.

import { dirname } from 'node:path';
import { jsonIn } from '../../base/json.ts';
import type { Spine } from '../feature.ts';
import type { RunCode } from './suite-file.ts';

const TIMEOUT_MS = 30_000;
const OUTPUT_BYTES_MAX = 20_000_000;
const REASON_CHARS_MAX = 300;

const code = `import { pathToFileURL } from 'node:url';
const { default: cases } = await import(pathToFileURL(process.argv[1]).href);
process.stdout.write(JSON.stringify(cases === undefined ? null : cases));`;

/** The desktop app's executable cannot run files as Node does. */
const node = process.versions['electron'] === undefined ? process.execPath : 'node';

export function createRunCode({ programs }: Pick<Spine, 'programs'>, signal: AbortSignal): RunCode {
  return async (file) => {
    const folder = dirname(file);
    const { ending, exitCode, output } = await programs.run({
      argv: [node, '--input-type=module', '--eval', code, file],
      input: '',
      cwd: folder,
      workspace: folder,
      timeoutMs: TIMEOUT_MS,
      outputBytesMax: OUTPUT_BYTES_MAX,
      withErrors: true,
      signal,
    });
    if (ending === 'timeout') throw new Error('it did not end within 30 seconds');
    if (ending !== 'exited' || exitCode !== 0) throw new Error(reasonIn(output));
    // The file may print other lines before the cases.
    const cases = jsonIn(output.slice(output.lastIndexOf('\n') + 1)) ?? null;
    if (cases === null) throw new Error('it has no default export with cases');
    return cases;
  };
}

function reasonIn(output: string): string {
  const line = output.split('\n').find((one) => /^\w*Error\b/.test(one)) ?? output.trim().split('\n').at(-1) ?? '';
  return line.slice(0, REASON_CHARS_MAX) || 'it cannot be run';
}
