// A text full of secrets in many forms and encodings, and the search for what remains of them.

import { SafetyChecks } from '../../core/guard/safety/safety.ts';
import { exact, recognisable } from './encodings.ts';
import { createRandomText, secretSamples } from './secret-samples.ts';

const random = createRandomText(77);

/** Values that the runtime learns from its settings. */
export const registeredValues: readonly string[] = [
  'correct horse battery staple',
  `S3cr3t/+"va'lue&<ü> %$x of many kinds`,
  random(32),
  random(64, 'hex'),
  random(43, 'base64'),
];

/** The number of encodings for each sample; they rotate, so that every encoding meets every kind of secret. */
const ENCODINGS_EACH = 9;
const NEEDLE_LENGTH = 14;

interface Planted {
  readonly what: string;
  readonly encoded: string;
  /** The position of the secret's middle in `encoded`, from 0 to 1. */
  readonly middle: number;
}

function plantedLines(): Planted[] {
  const samples = secretSamples.flatMap(({ kind, line, secret }, index) =>
    Array.from({ length: ENCODINGS_EACH }, (_, step): Planted => {
      const encoding = recognisable[step === 0 ? 0 : 1 + ((index + step) % (recognisable.length - 1))] ?? exact[0];
      if (encoding === undefined) throw new Error('there are encodings');
      const middle = (line.indexOf(secret) + secret.length / 2) / line.length;
      return { what: `${kind} as ${encoding.name}`, encoded: encoding.encode(line), middle };
    }),
  );
  const values = registeredValues.flatMap((value, index) =>
    exact.map((encoding): Planted => ({ what: `value ${index} as ${encoding.name}`, encoded: encoding.encode(value), middle: 0.5 })),
  );
  return [...samples, ...values];
}

export interface Plant {
  readonly text: string;
  readonly count: number;
  /** The secrets of which this text contains a part. */
  leaksIn(text: string): string[];
}

export function createPlant(): Plant {
  const lines = plantedLines();
  const text = lines.map(({ encoded }) => encoded).join('\n\n');
  // A needle may match clean text by chance; such needles are left out.
  const safety = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
  for (const [index, value] of registeredValues.entries()) safety.register(value, `v${index}`);
  const clean = readings(safety.redact(text).text).join('\n');
  const needles = new Map<string, string[]>();
  for (const line of lines) {
    for (const needle of needlesOf(line)) if (!clean.includes(needle)) needles.set(needle, [...(needles.get(needle) ?? []), line.what]);
  }
  const found = new Set([...needles.values()].flat());
  return {
    text,
    count: found.size,
    leaksIn: (searched) => [...new Set(readings(searched).flatMap((reading) => search(reading, needles)))],
  };
}

function needlesOf({ encoded, middle }: Planted): string[] {
  const center = Math.floor(encoded.length * middle);
  return [-NEEDLE_LENGTH, -Math.floor(NEEDLE_LENGTH / 2), 0]
    .map((shift) => encoded.slice(Math.max(0, center + shift), Math.max(0, center + shift) + NEEDLE_LENGTH))
    .filter((needle) => needle.length === NEEDLE_LENGTH && !/\s/.test(needle));
}

/** The text itself, and with one and two layers of JSON removed. */
function readings(text: string): string[] {
  const once = unescaped(text);
  return once === text ? [text] : [text, once, unescaped(once)];
}

const unescaped = (text: string): string => text.replace(/\\(["\\/])/g, '$1');

function search(text: string, needles: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  for (let at = 0; at + NEEDLE_LENGTH <= text.length; at++) {
    const what = needles.get(text.slice(at, at + NEEDLE_LENGTH));
    if (what !== undefined) found.push(...what);
  }
  return found;
}
