// Electron's fuses: switches in its binary that are set once, at packaging time, and apply to every start. Each is named here.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from 'electron-builder';

/** The names that electron-builder uses. */
export const fuses: Required<NonNullable<Configuration['electronFuses']>> = {
  runAsNode: false,
  // The app keeps no cookies. To encrypt them, each start would ask the keychain, which asks the person if the app is unsigned or new.
  enableCookieEncryption: false,
  enableNodeOptionsEnvironmentVariable: false,
  enableNodeCliInspectArguments: false,
  enableEmbeddedAsarIntegrityValidation: true,
  onlyLoadAppFromAsar: true,
  loadBrowserProcessSpecificV8Snapshot: false,
  grantFileProtocolExtraPrivileges: false,
  // The app is signed after the fuses are set, with or without a certificate.
  resetAdHocDarwinSignature: false,
};

/** A fuse unknown to electron-builder: WebAssembly checks bounds through processor traps, as in Chromium. */
const WASM_TRAP_HANDLERS = 8;
const FUSE_COUNT = 9;
/** The marker before the fuses in the binary. It is followed by the version of their layout, their count, and one character per fuse. */
const SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
const ON = '1'.charCodeAt(0);

/** Sets the fuse that electron-builder does not know, and throws if the binary has an unknown number of fuses. */
export function setLastFuse(binary: string) {
  const bytes = readFileSync(binary);
  // A universal binary contains the fuses twice.
  const starts = [...new Set([bytes.indexOf(SENTINEL), bytes.lastIndexOf(SENTINEL)])];
  for (const start of starts) {
    const at = start + SENTINEL.length;
    const [version, count] = [bytes[at], bytes[at + 1]];
    if (start < 0 || version !== 1) throw new Error(`${binary} has no fuses of a known layout`);
    if (count !== FUSE_COUNT) throw new Error(`${binary} has ${count} fuses where ${FUSE_COUNT} are decided on; see build/fuses.ts`);
    bytes[at + 2 + WASM_TRAP_HANDLERS] = ON;
  }
  writeFileSync(binary, bytes);
}

/** The file that contains the fuses. `folder` is that of the unpacked app; `platform` is as Electron names it. */
export function fuseFile(folder: string, platform: string, { product, executable }: { product: string; executable: string }) {
  if (platform === 'darwin')
    return join(folder, `${product}.app`, 'Contents', 'Frameworks', 'Electron Framework.framework', 'Electron Framework');
  return join(folder, platform === 'win32' ? `${product}.exe` : executable);
}
