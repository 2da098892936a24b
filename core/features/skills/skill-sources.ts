// The skill sections of a context pack: a card for each skill that matches the message, and the beginning of the instructions of skills
// that the person named or of one clearly best match. Records what was chosen.

import type { SkillListing } from '../../contracts/features/skills.ts';
import type { NoteEvent, PackPart, PackSourceRequest } from '../../contracts/pack-source.ts';
import type { Scored } from './skill-index.ts';
import type { ShownSkill } from './skill-reader.ts';

export interface SkillSourceDeps {
  readonly skills: {
    shortlist(query: string, offered: ReadonlySet<string>): Scored[];
    listed(name: string): SkillListing;
    has(name: string): boolean;
  };
  readonly reader: { instructions(name: string): ShownSkill };
}

export interface SkillSource<S extends string> {
  readonly section: S;
  select(request: PackSourceRequest, note?: NoteEvent): Promise<readonly PackPart[]>;
}

const NAMED_MAX = 8;
const CARD_CHARS_MAX = 600;
const EXCERPT_CHARS_MAX = 24_000;
/** A skill with at least this score, and twice the score of the next one, counts as intended. */
const CLEAR_SCORE = 7;

export function createSkillSources(deps: SkillSourceDeps): readonly [SkillSource<'skill_cards'>, SkillSource<'skill_excerpt'>] {
  // Both sections are requested for the same pack, which the signal identifies, so the choice is made once.
  let last: { readonly signal: AbortSignal; readonly chosen: Chosen } | null = null;
  const chosenFor = (request: PackSourceRequest): Chosen => {
    if (last?.signal !== request.signal) last = { signal: request.signal, chosen: choose(deps, request) };
    return last.chosen;
  };
  return [
    { section: 'skill_cards', select: (request, note) => Promise.resolve(selectCards(deps, chosenFor(request), { ...request, note })) },
    { section: 'skill_excerpt', select: (request) => Promise.resolve(selectExcerpts(deps, chosenFor(request))) },
  ];
}

interface Chosen {
  readonly scored: readonly Scored[];
  readonly excerpts: readonly string[];
}

interface Noting extends Pick<PackSourceRequest, 'agent'> {
  readonly note: NoteEvent | undefined;
}

function selectCards({ skills }: SkillSourceDeps, { scored, excerpts }: Chosen, { agent, note }: Noting): PackPart[] {
  if (scored.length + excerpts.length === 0) return [];
  const listed = scored.map(({ name, score }) => ({ ...skills.listed(name), score }));
  const selected = listed.map(({ name, version, score }) => ({ name, version, score }));
  note?.('skill.selected', { agentId: agent, skills: selected, excerpts: [...excerpts] });
  return listed.map(({ name, description, version, score }) => {
    const text = `${name}: ${description.replaceAll(/\s+/g, ' ')}`;
    return { id: `skill:${name}`, title: name, text: text.slice(0, CARD_CHARS_MAX), source: sourceWords(name, version), score };
  });
}

function selectExcerpts({ skills, reader }: SkillSourceDeps, { excerpts }: Chosen): PackPart[] {
  return excerpts.map((name) => {
    const { text, untrusted } = reader.instructions(name);
    const source = sourceWords(name, skills.listed(name).version);
    const cut = { charsMax: EXCERPT_CHARS_MAX, note: `cut; the skill tool gives all of it: {"action":"open","name":"${name}"}` };
    return { id: `skill-text:${name}`, title: name, text, cut, source, ...(untrusted.length === 0 ? {} : { tainted: untrusted }) };
  });
}

/** Chooses no cards if the tool that opens skills is not offered. */
function choose(deps: SkillSourceDeps, request: PackSourceRequest): Chosen {
  const offered = new Set(request.tools.map(({ name }) => name));
  const scored = offered.has('skill') ? deps.skills.shortlist(request.query, offered) : [];
  return { scored, excerpts: excerptNames(deps, request, scored) };
}

/** The skills that the person named with `$name`, in that order; otherwise the clearly intended one. */
function excerptNames({ skills }: SkillSourceDeps, { query }: PackSourceRequest, scored: readonly Scored[]): readonly string[] {
  const named = [...new Set([...query.matchAll(/(?<![\w$])\$([a-z0-9]+(?:-[a-z0-9]+)*)/g)].map(([, name = '']) => name))];
  const known = named.filter((name) => skills.has(name) && isOpen(skills.listed(name))).slice(0, NAMED_MAX);
  if (known.length > 0) return known;
  const [first, second] = scored;
  return first !== undefined && first.score >= CLEAR_SCORE && first.score >= 2 * (second?.score ?? 0) ? [first.name] : [];
}

function isOpen({ isEnabled, status }: SkillListing): boolean {
  return isEnabled && status !== 'sunset';
}

function sourceWords(name: string, version: string | null): string {
  return `skill ${name}${version === null ? '' : ` ${version}`}`;
}
