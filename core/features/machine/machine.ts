// Services, logs and buses of this computer, as tools of the gate: systemd units, the journal, i2c and spi. Each is a known program with an
// argument list made here; no shell reads anything.

import { existsSync, readdirSync } from 'node:fs';
import type { ToolDefinition } from '../../contracts/tools.ts';
import type { ProgramEnd } from '../../hands/tools/tools.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { createI2c, createSpi } from './buses.ts';
import type { KnownRun, RunKnown } from './run-known.ts';
import { createJournal, createSystemd } from './services.ts';

const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

export const machine = defineBuiltInFeature({
  name: 'machine',
  create: ({ programs }: Pick<Spine, 'programs'>) => ({
    tools: process.platform === 'linux' ? createMachineTools((known) => runKnown(programs, known)) : [],
  }),
});

/** The gate has decided about the call, so it runs unconfined. */
function runKnown(programs: Spine['programs'], { context, encoding = 'utf8', ...known }: KnownRun): Promise<ProgramEnd> {
  const { signal, workspace: cwd, processMarker: marker } = context;
  const bounds = { signal, outputBytesMax: OUTPUT_BYTES_MAX, attended: true, withErrors: encoding === 'utf8' };
  return programs.run({ ...known, ...bounds, input: known.input ?? '', encoding, cwd, marker });
}

/** A tool whose device or service this machine lacks is hidden from models; a person can still call it by name. */
export function createMachineTools(run: RunKnown): ToolDefinition[] {
  const hasSystemd = existsSync('/run/systemd/system');
  const devices = existsSync('/dev') ? readdirSync('/dev') : [];
  const shownIf = (isHere: boolean, tool: ToolDefinition): ToolDefinition => (isHere ? tool : { ...tool, isSearched: true });
  return [
    shownIf(hasSystemd, createSystemd(run)),
    shownIf(hasSystemd, createJournal(run)),
    shownIf(
      devices.some((name) => name.startsWith('i2c-')),
      createI2c(run),
    ),
    shownIf(
      devices.some((name) => name.startsWith('spidev')),
      createSpi(run),
    ),
  ];
}
