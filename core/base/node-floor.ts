// The oldest supported Node version. Older versions crash silently in the database driver, so this is checked before the driver is loaded.

/**
 * Measured: the driver's prebuilt code crashes up to 22.13, and the HTTP client requires 22.19. `engines` in package.json has the same
 * version.
 */
export const NODE_FLOOR = '22.19.0';

/**
 * @param version as in `process.versions.node`
 * @returns a sentence for the person, or null if this Node is new enough
 */
export function describeOldNode(version: string): string | null {
  const [floor, found] = [NODE_FLOOR, version].map((text) => text.split('.', 3).map((part) => Number.parseInt(part, 10)));
  const difference = floor?.map((part, index) => (found?.[index] ?? 0) - part).find((part) => part !== 0) ?? 0;
  return difference < 0 ? `TrayClaw needs Node ${NODE_FLOOR} or newer; this is ${version}.` : null;
}
