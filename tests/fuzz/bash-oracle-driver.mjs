// Runs inside the sandbox: runs each line with bash in a new folder and records which programs it started and which files it created.
// Writes one JSON document.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? '';
/** @type {string[]} */
const lines = JSON.parse(readFileSync(join(folder, 'lines.json'), 'utf8'));
const known = ['README.md', 'src', '.env', 'one.txt', 'x', 'a b'];
const logs = '/tmp/logs';
const run = '/tmp/run/inner';

const observed = lines.map((line) => {
  // Background work of a line may still be running.
  for (const place of ['/tmp/run', logs]) rmSync(place, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  mkdirSync(run, { recursive: true });
  mkdirSync(logs);
  for (const name of known) writeFileSync(join(run, name), '');
  // A line with a NUL byte cannot be passed to any program.
  const argument = line.replaceAll('\0', '');
  spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', argument], {
    cwd: run,
    env: { PATH: join(folder, 'stubs'), HOME: '/tmp/run', BASH_ENV: join(folder, 'environment.sh') },
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: 3000,
    killSignal: 'SIGKILL',
  });
  const calls = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8').split('\0').slice(0, -1));
  const created = [
    ...readdirSync(run).filter((name) => !known.includes(name)),
    ...readdirSync('/tmp/run').filter((name) => name !== 'inner'),
  ];
  return { calls, created };
});
writeFileSync(join(folder, 'observed.json'), JSON.stringify(observed));
