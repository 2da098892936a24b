// Builds the sections of a pack around its messages: the instructions before them, the material after them, and the tools, each within its
// share. Parts that do not fit are cut or dropped, and recorded. Uses the model's token counter.

import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import type { ToolSchema } from '../../contracts/llm.ts';
import { packReasons, packThings } from '../../contracts/pack-words.ts';
import type { EventBodies, ShownPackPart } from '../../contracts/events.ts';
import { FIXED_SHARE_MAX, MESSAGES_SHARE_MIN, sectionShares, type PackSection, type TokenScale } from './pack-budget.ts';
import type { PackPart, SourceSection } from '../../contracts/pack-source.ts';
import type { LeftOut, SelectedParts } from './select-parts.ts';
import { cutMiddle } from './shorten-messages.ts';
import { approvalsTitle, tailHead, tailTitles } from './pack-tail.ts';
import { byNeed } from './tool-priority.ts';
import { showPart } from './summary-note.ts';

export type Section = EventBodies['pack.built']['sections'][number];

interface PartLooks {
  readonly show: (part: PackPart) => string;
  /** Returns the size in tokens. */
  readonly sizeOf: (shown: string) => number;
}

const nothing = stillRedacted('');
/** A shorter beginning would not be useful. */
const BEGINNING_CHARS_MIN = 200;

/** Counts the texts of a section and records what was dropped. */
export class SectionBuilder {
  readonly sections: Section[] = [];
  readonly dropped: LeftOut[] = [];
  readonly truncated: { what: string; fromTokens: number; toTokens: number; reason: string }[] = [];
  readonly parts: ShownPackPart[] = [];
  readonly #count: (text: string) => number;
  readonly #scale: TokenScale;
  readonly #spendable: number;
  readonly #redact: (text: string) => Redacted;
  /** The remaining room for material. */
  #free = Number.POSITIVE_INFINITY;

  constructor(how: { count: (text: string) => number; scale: TokenScale; spendable: number; redact: (text: string) => Redacted }) {
    this.#count = how.count;
    this.#scale = how.scale;
    this.#spendable = how.spendable;
    this.#redact = how.redact;
  }

  get tokens(): number {
    return this.sections.reduce((sum, section) => sum + section.tokens, 0);
  }

  fixed(text: string): number {
    return text === '' ? 0 : Math.ceil(this.#count(text) * this.#scale.fixed);
  }

  flow(text: string): number {
    return Math.ceil(this.#count(text) * this.#scale.flow);
  }

  /** The standing instructions, which are never cut. */
  system(given: string): Redacted {
    const text = this.#redact(given);
    this.sections.push({ name: 'system', tokens: this.fixed(text), items: 1 });
    return text;
  }

  /** Adds one text, cut in the middle if it is too long. */
  text(section: PackSection, given: string): Redacted {
    if (given === '') return nothing;
    const text = this.#fitText(section, this.#redact(given));
    if (text === '') return nothing;
    this.sections.push({ name: section, tokens: this.fixed(text) + 2, items: 1 });
    return stillRedacted(`\n\n${text}`);
  }

  /** Adds pinned rules, each verbatim or not at all. The newest rules have priority. */
  rules(rules: readonly string[]): Redacted {
    if (rules.length === 0) return nothing;
    const title = 'Rules that the person pinned. They always apply, whatever follows:';
    const max = this.#max('rules');
    const shown: string[] = [];
    const leftOut = 'The other pinned rules do not fit into the context window of this model.';
    let tokens = this.fixed(title) + this.fixed(leftOut) + 5;
    for (const rule of rules.toReversed()) {
      const line = `- ${this.#redact(rule)}`;
      const size = this.fixed(line) + 1;
      if (tokens + size <= max) {
        shown.unshift(line);
        tokens += size;
      } else this.#drop(packThings.rule, size, packReasons.rules);
    }
    if (shown.length === 0) return nothing;
    this.sections.push({ name: 'rules', tokens, items: shown.length });
    return stillRedacted(`\n\n${[title, ...shown, ...(shown.length < rules.length ? [leftOut] : [])].join('\n')}`);
  }

  /** Adds parts that contain instructions; only those that fit whole. */
  instructions(section: 'identity' | 'task', selected: SelectedParts | null): Redacted {
    const taken = this.#take(section, selected, {
      show: (part) => `## ${part.title}\n${part.text}`,
      sizeOf: (text) => this.fixed(text) + 2,
    });
    return taken.length === 0 ? nothing : stillRedacted(`\n\n${taken.join('\n\n')}`);
  }

  /** The material after the messages; empty if there is none. */
  tail(selected: SelectedParts | null, approvals: readonly string[]): Redacted {
    if (approvals.length === 0 && tailTitles.every(([section]) => selected?.parts[section] === undefined)) return nothing;
    const blocks: string[] = [];
    const headTokens = this.flow(tailHead) + 6;
    const free = this.#spendable * (1 - MESSAGES_SHARE_MIN) - this.tokens - headTokens;
    this.#free = Math.max(0, free);
    const add = (title: string, shown: readonly string[]): void => {
      if (shown.length > 0) blocks.push([title, ...shown].join('\n'));
    };
    for (const [section, title] of tailTitles) {
      const titleTokens = this.flow(title) + 2;
      add(title, this.#take(section, selected, { show: showPart, sizeOf: (text) => this.flow(text) + 2, titleTokens }));
    }
    add(approvalsTitle, this.#approvals(approvals, this.flow(approvalsTitle) + 2));
    if (blocks.length === 0) return nothing;
    this.sections.push({ name: 'about_material', tokens: headTokens, items: 1 });
    return stillRedacted([tailHead, ...blocks].join('\n\n'));
  }

  /** Records the tools beyond the maximum number per request. */
  leaveOutTools(count: number): void {
    if (count > 0) this.dropped.push({ what: packThings.tools, count, tokens: 0, reason: packReasons.toolCount });
  }

  /** Returns the list itself if it fits; otherwise as many of the most needed tools as fit, in the given order. */
  tools(tools: readonly ToolSchema[], countOf: (tools: readonly ToolSchema[]) => number): readonly ToolSchema[] {
    const free = this.#spendable * FIXED_SHARE_MAX - this.tokens;
    const max = Math.floor(Math.max(0, Math.min(this.#max('tools'), free)));
    const whole = Math.ceil(countOf(tools) * this.#scale.fixed);
    if (whole <= max || tools.length === 0) {
      this.sections.push({ name: 'tools', tokens: whole, items: tools.length });
      return tools;
    }
    const chosen = new Set<ToolSchema>();
    let tokens = 2;
    for (const tool of byNeed(tools)) {
      const size = Math.ceil(this.#count(JSON.stringify(tool)) * this.#scale.fixed) + 1;
      if (tokens + size > max) continue;
      chosen.add(tool);
      tokens += size;
    }
    const kept = tools.filter((tool) => chosen.has(tool));
    const count = tools.length - kept.length;
    this.dropped.push({
      what: packThings.tools,
      count,
      tokens: Math.max(0, whole - tokens),
      reason: packReasons.tools,
    });
    this.sections.push({ name: 'tools', tokens: kept.length === 0 ? 0 : tokens, items: kept.length });
    return kept;
  }

  #approvals(approvals: readonly string[], titleTokens: number): string[] {
    const max = Math.min(this.#max('approvals'), this.#free);
    const lines: string[] = [];
    let tokens = titleTokens;
    for (const approval of approvals) {
      const line = `- ${this.#redact(approval)}`;
      const size = this.flow(line) + 1;
      if (tokens + size > max) this.#drop(packThings.approval, size, packReasons.share);
      else {
        lines.push(line);
        tokens += size;
      }
    }
    if (lines.length > 0) this.#push('approvals', tokens, lines.length);
    return lines;
  }

  #take(section: SourceSection, selected: SelectedParts | null, how: PartLooks & { titleTokens?: number }): string[] {
    const max = Math.min(this.#max(section), this.#free);
    const shown: string[] = [];
    let tokens = how.titleTokens ?? 0;
    const parts = selected?.parts[section] ?? [];
    for (const [index, given] of parts.entries()) {
      const part = { ...given, title: this.#redact(given.title), text: this.#redact(given.text), source: this.#redact(given.source) };
      const fitting = this.#fitPart(section, part, how, { tokens: max - tokens, parts: parts.length - index });
      if (fitting === null) continue;
      shown.push(fitting.text);
      tokens += fitting.tokens;
      this.parts.push(shownPart(section, part, fitting.tokens));
    }
    if (shown.length > 0) this.#push(section, tokens, shown.length);
    return shown;
  }

  /** Returns the part as shown, whole or only its beginning; null if neither fits. Records omissions. */
  #fitPart(
    section: SourceSection,
    part: PackPart,
    { show, sizeOf }: PartLooks,
    left: { readonly tokens: number; readonly parts: number },
  ): { readonly text: string; readonly tokens: number } | null {
    const what = `${section}: ${part.title}`;
    const shown = show(part);
    const whole = { text: shown, tokens: sizeOf(shown) };
    const isTooLong = part.cut !== undefined && part.text.length > part.cut.charsMax;
    if (!isTooLong && whole.tokens <= left.tokens) return whole;
    const text = beginningWithin(left.tokens / left.parts, part, { show, sizeOf });
    if (text === null) {
      this.#drop(what, whole.tokens, packReasons.share);
      return null;
    }
    const tokens = sizeOf(text);
    this.truncated.push({ what, fromTokens: whole.tokens, toTokens: tokens, reason: packReasons.share });
    return { text, tokens };
  }

  #push(name: PackSection, tokens: number, items: number): void {
    this.sections.push({ name, tokens, items });
    this.#free -= tokens;
  }

  #fitText(section: PackSection, text: string): string {
    const max = this.#max(section);
    const whole = this.fixed(text);
    if (whole + 2 <= max) return text;
    let shorter = text;
    for (let keep = Math.floor((text.length * max) / (whole + 2)); keep >= 16; keep = Math.floor(keep * 0.7)) {
      shorter = cutMiddle(text, keep);
      const tokens = this.fixed(shorter);
      if (tokens + 2 > max) continue;
      this.truncated.push({ what: section, fromTokens: whole, toTokens: tokens, reason: packReasons.share });
      return shorter;
    }
    this.#drop(section, whole, packReasons.share);
    return '';
  }

  #max(section: PackSection): number {
    return Math.floor(this.#spendable * sectionShares[section]);
  }

  #drop(what: string, tokens: number, reason: string): void {
    this.dropped.push({ what, count: 1, tokens, reason });
  }
}

function shownPart(section: SourceSection, { id, title, source, score, tainted }: PackPart, tokens: number): ShownPackPart {
  const marks = tainted === undefined || tainted.length === 0 ? {} : { tainted: [...tainted] };
  return { section, id, title, source, tokens, ...(score === undefined ? {} : { score }), ...marks };
}

/** Returns the beginning of a part that fits into the given tokens. Null if the part must not be cut or too little would be left. */
function beginningWithin(tokensMax: number, part: PackPart, { show, sizeOf }: PartLooks): string | null {
  const { text, cut } = part;
  if (cut === undefined) return null;
  const charsMax = Math.min(cut.charsMax, (text.length * tokensMax) / sizeOf(show(part)));
  for (let keep = Math.floor(charsMax); keep >= BEGINNING_CHARS_MIN; keep = Math.floor(keep * 0.8)) {
    const shown = show({ ...part, text: `${beginningOf(text, keep)}\n[${cut.note}]` });
    if (sizeOf(shown) <= tokensMax) return shown;
  }
  return null;
}

/** Ends at a whole line if that keeps more than half. */
function beginningOf(text: string, charsMax: number): string {
  const line = text.lastIndexOf('\n', charsMax);
  return text.slice(0, line > charsMax / 2 ? line : charsMax).trimEnd();
}
