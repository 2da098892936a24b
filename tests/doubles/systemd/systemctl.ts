// A fake systemctl for tests: `systemctl.ts FOLDER ARGS…`. Supports the calls of systemctl(1) for a user manager, stores its state in
// FOLDER, and rejects everything else, even calls that the real one would accept with a warning. Starts nothing.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readUnit } from './unit-file.ts';

interface State {
  bus: boolean;
  loaded: string | null;
  isEnabled: boolean;
  active: 'active' | 'inactive' | 'failed';
  calls: string[];
}

const [folder = '', ...args] = process.argv.slice(2);
const stateFile = join(folder, 'state.json');
const state: State = existsSync(stateFile)
  ? (JSON.parse(readFileSync(stateFile, 'utf8')) as State)
  : { bus: true, loaded: null, isEnabled: false, active: 'inactive', calls: [] };
const unit = 'trayclaw.service';
const unitFile = join(process.env['XDG_CONFIG_HOME'] ?? join(process.env['HOME'] ?? '', '.config'), 'systemd', 'user', unit);
const onDisk = existsSync(unitFile) ? readFileSync(unitFile, 'utf8') : null;

interface Reply {
  readonly code: number;
  readonly out?: string;
  readonly err?: string;
}

const calls: Readonly<Record<string, () => Reply>> = {
  'show --property=Version': () => ({ code: 0, out: 'Version=252.38' }),
  'daemon-reload': () => {
    state.loaded = onDisk;
    if (onDisk !== null) readUnit(onDisk);
    return { code: 0 };
  },
  [`is-active --quiet ${unit}`]: () => ({ code: state.active === 'active' ? 0 : 3 }),
  [`enable --now ${unit}`]: () => start(true),
  [`restart ${unit}`]: () => start(state.isEnabled),
  [`disable --now ${unit}`]: () => {
    if (onDisk === null) return { code: 1, err: `Failed to disable unit: Unit file ${unit} does not exist.` };
    Object.assign(state, { isEnabled: false, active: 'inactive' });
    return { code: 0 };
  },
  [`show ${unit} --property=ActiveState,UnitFileState,MainPID`]: () => {
    const enabled = state.isEnabled ? 'enabled' : 'disabled';
    const file = onDisk === null ? '' : enabled;
    return { code: 0, out: `MainPID=${state.active === 'active' ? 4711 : 0}\nActiveState=${state.active}\nUnitFileState=${file}` };
  },
};

function start(isEnabled: boolean): Reply {
  if (onDisk === null) return { code: 1, err: `Failed to enable unit: Unit file ${unit} does not exist.` };
  if (state.loaded !== onDisk) return { code: 1, err: `Warning: The unit file of ${unit} changed on disk. Run daemon-reload.` };
  Object.assign(state, { isEnabled, active: 'active' });
  return { code: 0 };
}

function answer(): Reply {
  if (args[0] !== '--user') return { code: 1, err: 'Failed to enable unit: Access denied' };
  if (!state.bus) return { code: 1, err: 'Failed to connect to bus: No medium found' };
  const call = args.slice(1).join(' ');
  state.calls.push(call);
  return calls[call]?.() ?? { code: 1, err: `Unknown command verb or arguments: ${call}` };
}

const { code, out, err } = answer();
if (out !== undefined) process.stdout.write(`${out}\n`);
if (err !== undefined) process.stderr.write(`${err}\n`);
writeFileSync(stateFile, JSON.stringify(state));
process.exitCode = code;
