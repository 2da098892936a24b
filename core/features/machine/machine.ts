// Tools for the services, logs, buses and screen of this computer: systemd units, the journal, i2c, spi, screenshots. Each runs a known
// program with an argument list built here, without a shell.

import { existsSync, readdirSync } from 'node:fs';
import type { ToolDefinition } from '../../contracts/tools.ts';
import { findProgram, type ProgramEnd } from '../../hands/tools/tools.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { createI2c, createSpi } from './buses.ts';
import type { KnownRun, RunKnown } from './run-known.ts';
import { createScreenshot, type Desktop } from './screen.ts';
import { createJournal, createSystemd } from './services.ts';

const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;
/** Enough for a screenshot of several large screens. */
const BINARY_BYTES_MAX = 50 * 1024 * 1024;

export const machine = defineBuiltInFeature({
  name: 'machine',
  create: ({ programs, environment }: Pick<Spine, 'programs' | 'environment'>) => {
    const run: RunKnown = (known) => runKnown(programs, known);
    return { tools: createMachineTools(run, { platform: process.platform, environment, find: findProgram }) };
  },
});

/** Runs unconfined, because the gate has decided about the call. */
function runKnown(programs: Spine['programs'], { context, encoding = 'utf8', ...known }: KnownRun): Promise<ProgramEnd> {
  const { signal, workspace: cwd, processMarker: marker } = context;
  const bounds = {
    signal,
    outputBytesMax: encoding === 'hex' ? BINARY_BYTES_MAX : OUTPUT_BYTES_MAX,
    attended: true,
    withErrors: encoding === 'utf8',
  };
  return programs.run({ ...known, ...bounds, input: known.input ?? '', encoding, cwd, marker });
}

/** A tool whose device or service is missing on this machine is hidden from models. A person can still call it by name. */
export function createMachineTools(run: RunKnown, desktop: Desktop): ToolDefinition[] {
  const screenshot = createScreenshot(run, desktop);
  if (desktop.platform !== 'linux') return [screenshot];
  const hasSystemd = existsSync('/run/systemd/system');
  const devices = existsSync('/dev') ? readdirSync('/dev') : [];
  const shownIf = (isHere: boolean, tool: ToolDefinition): ToolDefinition => (isHere ? tool : { ...tool, isSearched: true });
  return [
    screenshot,
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
