// Bash's own interpretation of lines, observed in a sandbox in which every program is a stub that records its arguments.

import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

export interface Observed {
  /** The argument list of each program that was started; the first element is its name. */
  readonly calls: readonly (readonly string[])[];
  /** Files that were created. */
  readonly created: readonly string[];
}

const observedSchema = z.array(z.object({ calls: z.array(z.array(z.string())), created: z.array(z.string()) }));
const driver = fileURLToPath(new URL('bash-oracle-driver.mjs', import.meta.url));
const stub = `#!/bin/sh\n{ printf '%s\\0' "\${0##*/}"; for word; do printf '%s\\0' "$word"; done; } > "/tmp/logs/$$"\n`;

/** One observation per line, in order. */
export function observe(lines: readonly string[], stubNames: readonly string[]): readonly Observed[] {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-oracle-'));
  try {
    const stubs = join(folder, 'stubs');
    mkdirSync(stubs);
    writeFileSync(join(folder, 'stub'), stub);
    chmodSync(join(folder, 'stub'), 0o755);
    for (const name of new Set(stubNames)) linkSync(join(folder, 'stub'), join(stubs, name));
    // Bash's builtins are disabled, so that the stubs are called.
    writeFileSync(join(folder, 'environment.sh'), 'enable -n echo printf pwd true false test [\n');
    writeFileSync(join(folder, 'lines.json'), JSON.stringify(lines));
    writeFileSync(join(folder, 'observed.json'), '');
    const places = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--bind', folder, '/tmp/o'];
    // Bound under other names, because this checkout itself may be in the hidden folder.
    const program = ['--ro-bind', driver, '/tmp/driver.mjs', '--ro-bind', process.execPath, '/tmp/node'];
    const sandbox = [...places, ...program, '--unshare-all', '--die-with-parent'];
    execFileSync('bwrap', [...sandbox, '/tmp/node', '/tmp/driver.mjs', '/tmp/o'], { stdio: ['ignore', 'ignore', 'inherit'] });
    return observedSchema.parse(JSON.parse(readFileSync(join(folder, 'observed.json'), 'utf8')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
