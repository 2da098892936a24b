// The bounds of an agent, one line for each that excludes something; its tools have a separate line. Pure.

import type { TurnBounds } from '../../../core/contracts/turn-bounds.ts';
import type { Language } from '../../lib/i18n/language.ts';
import { optionName } from '../settings/setting-names.ts';

/** The default depth, which excludes nothing. */
const depthMax = 10;

export function describeBounds(bounds: TurnBounds, { words, format }: Language): string[] {
  const { bound } = words.agents;
  const list = (names: readonly string[]): string => (names.length === 0 ? bound.nothing : names.join(', '));
  const kinds = bounds.classes?.map((one) => optionName(one, words.settingNames));
  return [
    kinds && bound.classes(list(kinds)),
    bounds.folders && bound.folders(list(bounds.folders)),
    bounds.hosts && bound.hosts(list(bounds.hosts)),
    ...limitsOf(bounds, { words, format }),
    bounds.grants ? null : bound.grants,
    bounds.unattended && bound.unattended(format.duration(bounds.unattended.approvalMs)),
  ].filter((line): line is string => typeof line === 'string');
}

function limitsOf(
  { steps, turnMs, usd, tokens, depth }: TurnBounds,
  { words, format }: Pick<Language, 'words' | 'format'>,
): (string | null)[] {
  const { bound } = words.agents;
  return [
    steps === null ? null : bound.steps(steps),
    turnMs === null ? null : bound.turnMs(format.duration(turnMs)),
    usd === null ? null : bound.usd(format.usd(usd)),
    tokens === null ? null : bound.tokens(format.tokens(tokens)),
    depth >= depthMax ? null : bound.depth(depth),
  ];
}
