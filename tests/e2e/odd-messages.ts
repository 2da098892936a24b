// Malicious messages for every channel of the shell and every operation by name, in a fixed number and from a seed. None has an effect,
// except opening a web page and starting at login, which the spec detects and reverts.

import fc from 'fast-check';
import { askChannels } from '../../core/contracts/desktop-channels.ts';
import { opTable } from '../../core/contracts/ops.ts';

/** How a message is sent: by a function of the bridge, or past it on a raw channel. */
export type Way = 'op' | 'follow' | 'setLoginStart' | 'openLink' | 'raw';

export interface OddMessage {
  readonly way: Way;
  /** The channel of a raw message. */
  readonly channel: string;
  /** The name of an operation, of any type. */
  readonly name: unknown;
  readonly body: unknown;
}

const opNames = Object.keys(opTable);
const channels = Object.values(askChannels);
const leaves = [fc.boolean(), fc.integer(), fc.double(), fc.string(), fc.constantFrom(null, undefined), fc.date({ noInvalidDate: true })];
/** Playwright builds objects by assignment, so this key would set the prototype; the spec sends it in another way. */
const key = fc.string().filter((name) => name !== '__proto__');
const anyValue = fc.anything({
  key,
  maxDepth: 3,
  maxKeys: 4,
  values: leaves,
  withBigInt: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
});
/** Raw messages are sent to the app as JSON. */
const plainValue = fc.jsonValue();
const link = fc.oneof(
  { weight: 2, arbitrary: anyValue },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.webUrl({ validSchemes: ['http', 'https', 'file', 'javascript', 'smb'], withQueryParameters: true }) },
);

/** Returns exactly `count` messages that cover every operation and every channel repeatedly. */
export function oddMessages(count: number, seed: number): OddMessage[] {
  const known = inTurn(opNames, 0.6 * count, (name) => fc.record({ name: fc.constant(name), params: anyValue }), seed);
  const raw = inTurn(channels, 0.2 * count, (channel) => rawFor(channel), seed + 1);
  const loginStart = fc.sample(anyValue, { numRuns: 0.03 * count, seed });
  const links = fc.sample(link, { numRuns: 0.04 * count, seed });
  const follows = fc.sample(
    anyValue.filter((after) => after !== 'latest' && !isPlace(after)),
    { numRuns: 0.05 * count, seed },
  );
  const found: OddMessage[] = [
    ...known.map(([, { name, params }]) => ({ way: 'op' as const, channel: askChannels.op, name, body: params })),
    ...raw.map(([channel, body]) => ({ way: 'raw' as const, channel, name: null, body })),
    ...loginStart.map((body) => ({ way: 'setLoginStart' as const, channel: askChannels.loginStart, name: null, body })),
    ...links.map((body) => ({ way: 'openLink' as const, channel: askChannels.openLink, name: null, body })),
    ...follows.map((body) => ({ way: 'follow' as const, channel: askChannels.follow, name: null, body })),
  ];
  const unknown = fc.sample(fc.record({ name: fc.oneof(fc.string(), anyValue), params: anyValue }), {
    numRuns: 2 * (count - found.length),
    seed,
  });
  const rest = unknown.filter(({ name }) => !opNames.includes(String(name))).slice(0, count - found.length);
  return [...found, ...rest.map(({ name, params }) => ({ way: 'op' as const, channel: askChannels.op, name, body: params }))];
}

function inTurn<T>(
  names: readonly string[],
  count: number,
  arbitraryFor: (name: string) => fc.Arbitrary<T>,
  seed: number,
): (readonly [string, T])[] {
  const each = Math.floor(count / names.length);
  return names.flatMap((name, index) =>
    fc
      .sample(
        arbitraryFor(name).filter((message) => !wouldDo(message)),
        { numRuns: each, seed: seed + index },
      )
      .map((message) => [name, message] as const),
  );
}

/** The channel of operations also gets the shapes of other channels, because near misses find more than random data. */
function rawFor(channel: string): fc.Arbitrary<unknown> {
  const near: fc.Arbitrary<unknown> =
    channel === askChannels.op
      ? fc.record({ name: fc.constantFrom(...opNames), params: plainValue })
      : fc.record({
          followId: fc.oneof(fc.integer(), plainValue),
          after: fc.oneof(fc.integer(), fc.constant('latest'), plainValue),
          isOn: plainValue,
          url: fc.oneof(fc.string(), plainValue),
        });
  return fc.oneof({ weight: 2, arbitrary: near }, { weight: 1, arbitrary: plainValue });
}

/** Whether the parameters would have an effect: a call without parameters is valid, not odd. */
function wouldDo(message: unknown): boolean {
  if (typeof message !== 'object' || message === null || !('params' in message)) return false;
  const { params } = message;
  if (params === undefined) return true;
  return typeof params === 'object' && params !== null && !Array.isArray(params) && Object.keys(params).length === 0;
}

function isPlace(after: unknown): boolean {
  return Number.isInteger(after) && (after as number) >= 0;
}
