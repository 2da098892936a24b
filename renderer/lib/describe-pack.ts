// Describes the model's input section by section: its content, omissions with reasons, and the accuracy of the estimate. Only wording and
// sums.

import type { OpResult } from '../../core/contracts/ops.ts';
import {
  packAddenda,
  packReasons,
  packSectionOrder,
  packThings,
  type PackAddendum,
  type PackReason,
  type PackSectionName,
  type PackThing,
} from '../../core/contracts/pack-words.ts';
import type { Wording } from './describe-note.ts';

export type PackView = OpResult<'pack.get'>;
/** Of a request that was sent or would be. */
export type PackContents = Omit<PackView, 'packId' | 'turnId' | 'reported'>;
type Part = NonNullable<PackView['parts']>[number];

export interface SectionRow {
  readonly name: string;
  readonly tokens: number;
  readonly items: number;
  /** Null if the log does not contain it, or contains it message by message. */
  readonly text: NonNullable<PackView['texts']>[number] | null;
  readonly parts: readonly Part[];
  /** Omissions and cuts, as sentences. */
  readonly losses: readonly string[];
}

type Drop = PackView['dropped'][number];
type Cut = PackView['truncated'][number];

/** Sections in the order of the pack, including emptied ones. */
export function sectionRows(pack: PackContents, wording: Wording): readonly SectionRow[] {
  const names = new Set<string>([...pack.sections.map(({ name }) => name), ...[...pack.dropped, ...pack.truncated].map(sectionOf)]);
  const place = (name: string): number => {
    const at = packSectionOrder.findIndex((known) => known === name);
    return at === -1 ? packSectionOrder.length : at;
  };
  return [...names]
    .toSorted((a, b) => place(a) - place(b))
    .map((name) => {
      const section = pack.sections.find((one) => one.name === name);
      const dropped = pack.dropped.filter((one) => sectionOf(one) === name).map((one) => describeDrop(one, wording));
      const cut = pack.truncated.filter((one) => sectionOf(one) === name).map((one) => describeCut(one, wording));
      return {
        name,
        tokens: section?.tokens ?? 0,
        items: section?.items ?? 0,
        text: pack.texts?.find((one) => one.section === name) ?? null,
        parts: pack.parts?.filter((one) => one.section === name) ?? [],
        losses: [...dropped, ...cut],
      };
    });
}

const sectionOfThing: Readonly<Record<PackThing, PackSectionName>> = {
  rule: 'rules',
  tools: 'tools',
  approval: 'approvals',
  oldest: 'messages',
  steps: 'messages',
};

/** The section of `memory`, or of `memory: Title` for a part of it. Any other text belongs to the messages. */
function sectionOf({ what }: { readonly what: string }): string {
  const thing = keyOf(packThings, what);
  if (thing !== null) return sectionOfThing[thing];
  const [name = ''] = what.split(': ', 1);
  return packSectionOrder.find((known) => known === name) ?? 'messages';
}

function nameOf(what: string, { words }: Wording): string {
  const { pack } = words.chat;
  const thing = keyOf(packThings, what);
  if (thing !== null) return pack.things[thing];
  const section = packSectionOrder.find((known) => what === known || what.startsWith(`${known}: `));
  if (section === undefined) return what;
  return what === section ? pack.allOfIt : what.slice(section.length + 2);
}

function describeDrop({ what, count, tokens, reason }: Drop, wording: Wording): string {
  const { words, format } = wording;
  return words.chat.pack.leftOut(nameOf(what, wording), count, format.tokens(tokens), describeReason(reason, wording));
}

function describeCut({ what, fromTokens, toTokens, reason }: Cut, wording: Wording): string {
  const { words, format } = wording;
  return words.chat.pack.cut(nameOf(what, wording), format.tokens(fromTokens), format.tokens(toTokens), describeReason(reason, wording));
}

/** An unknown reason stays in the host's wording. */
export function describeReason(reason: string, { words }: Wording): string {
  const { reasons, addenda } = words.chat.pack;
  const [first = '', second] = reason.split('; ', 2);
  const known: PackReason | null = keyOf(packReasons, first);
  if (known === null) return reason;
  const more: PackAddendum | null = second === undefined ? null : keyOf(packAddenda, second);
  return [reasons[known], ...(more === null ? (second === undefined ? [] : [second]) : [addenda[more]])].join(' ');
}

export interface PackMeasure {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  /** The share of the counted tokens that came from the server's cache. */
  readonly cachedShare: number;
  /** The estimate minus the count, as a share; negative if the estimate was too low. */
  readonly errorShare: number;
}

/** The server's count next to the estimate; null until the server has reported. */
export function measurePack({ tokens, reported }: PackView): PackMeasure | null {
  if (reported === null || reported === undefined || reported.inputTokens <= 0) return null;
  const { inputTokens, cachedInputTokens } = reported;
  return {
    inputTokens,
    cachedTokens: cachedInputTokens,
    cachedShare: Math.min(1, cachedInputTokens / inputTokens),
    errorShare: (tokens - inputTokens) / inputTokens,
  };
}

function keyOf<K extends string>(table: Readonly<Record<K, string>>, text: string): K | null {
  return (Object.keys(table) as K[]).find((key) => table[key] === text) ?? null;
}
