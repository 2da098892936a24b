// Chooses what the specs run on: real Electron if it is requested and installed, otherwise the stand-in. Prints which, once per process.

import { fileURLToPath } from 'node:url';
import { findElectron } from '../../../main/electron-binary.ts';
import type { DesktopDriver, StartOptions } from './desktop-driver.ts';
import { ElectronDriver } from './electron-driver.ts';
import { StandInDriver } from './stand-in-driver.ts';

const projectRoot = fileURLToPath(new URL('../../../', import.meta.url));

/** The binary of real Electron if TRAYCLAW_ELECTRON=1 requests it and it is installed; otherwise null. */
export const electronBinary =
  process.env['TRAYCLAW_ELECTRON'] === '1' ? (findElectron(projectRoot, process.env, process.platform)?.binary ?? null) : null;

export async function openDesktop(options: StartOptions): Promise<DesktopDriver> {
  return electronBinary === null ? StandInDriver.start(options) : ElectronDriver.start(electronBinary, options);
}

export function announceDriver(): void {
  const found = electronBinary === null ? 'the stand-in for Electron, with a real Chromium' : `Electron at ${electronBinary}`;
  process.stdout.write(`desktop specs run on ${found}\n`);
}
