// The desktop bridge, if the page runs in the desktop app.

import { bridgeName, type DesktopBridge } from '../../core/contracts/desktop-channels.ts';

export function findBridge(target: object): DesktopBridge | null {
  return (target as Readonly<Record<string, DesktopBridge | undefined>>)[bridgeName] ?? null;
}
