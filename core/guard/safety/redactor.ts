// Finds secrets in text and replaces them: registered values in any of their forms first, then recognizable patterns. Reads the text both
// as it is and with escapes undone, and runs of base64, base32, hex and dumps of bytes decoded, in whatever order these were applied.

import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import { createContextRules } from './context-rules.ts';
import { definedTables } from './defined-tables.ts';
import { dumpRuns, openDump } from './dump-runs.ts';
import { encodedRuns, openRun } from './encoded-runs.ts';
import { LiteralFinder } from './literal-finder.ts';
import { manifestRuns } from './manifest-runs.ts';
import { numberRuns, openNumbers } from './number-runs.ts';
import { beginningOf, matchRule, rankOfSecret, reachesEnd, triggerLengthMin, type PatternRule } from './pattern-rule.ts';
import { findPersonalData, openPersonalData, type PersonalKind } from './personal-data.ts';
import { createProviderRules } from './provider-rules.ts';
import { formLengthMin, isRecognizable, passedOver, secretForms, type SecretForm } from './secret-forms.ts';
import { sqlRuns } from './sql-runs.ts';
import { tableRuns } from './table-runs.ts';
import { mergeSpans, renderSpans, type Span } from './text-view.ts';
import { openUuencoded, uuencodedRuns } from './uuencoded-runs.ts';
import { openEscape, unescapedView } from './unescaped-view.ts';

export interface Redaction {
  /** The identical string if nothing was found. */
  readonly text: Redacted;
  /** The distinct names of the findings, in order. */
  readonly found: readonly string[];
}

/** The findings in a text, and the positions from which more text could change them. A position is the text's length if no text could. */
export interface Analysis {
  readonly spans: readonly Span[];
  /** The start of a registered value that the text does not finish. */
  readonly openValue: number;
  /** The same for patterns. */
  readonly openPattern: number;
}

export interface RedactorOptions {
  /** Personal data to redact in addition to secrets. */
  readonly personal: readonly PersonalKind[];
}

interface NamedForm extends SecretForm {
  readonly name: string;
}

interface Find {
  readonly spans: Span[];
  openValue: number;
  openPattern: number;
  /** Where words are that may stand above a column of secrets. */
  readonly heads: number[];
}

const VALUES_MAX = 2000;
/** Shorter text cannot contain a secret: the shortest rule needs more. */
const LENGTH_MIN = 8;
/** Limits of a generation of the cache of clean texts: their number, the length of each, and the total length. */
const CLEAN_MAX = 500;
/** The maximum length of a tool result. */
const CLEAN_LENGTH_MAX = 65_536;
const CLEAN_TOTAL_LENGTH_MAX = 500_000;
/** Nested encodings to undo, such as JSON in JSON in a URL. */
const READINGS_MAX = 3;
/** The number of characters read around an escape, or twice the longest value if that is more. */
const REACH_MIN = 512;
const REACH_MAX = 16_384;

export class Redactor {
  readonly #values = new Map<string, string>();
  readonly #triggers: LiteralFinder<PatternRule>;
  readonly #personal: readonly PersonalKind[];
  #finder: LiteralFinder<NamedForm> | null = null;
  #reach = REACH_MIN;
  #clean = new Set<string>();
  /** The previous generation of the cache. Dropping a whole generation is cheaper than dropping the oldest text each time. */
  #cleanBefore: ReadonlySet<string> = new Set();
  #cleanLength = 0;
  #version = 0;

  constructor(options: RedactorOptions) {
    this.#personal = options.personal;
    const rules = [...createProviderRules(), ...createContextRules()];
    const triggers = rules.flatMap((rule) => rule.triggers.map((text) => ({ text, about: rule })));
    this.#triggers = new LiteralFinder(triggers, { headLength: triggerLengthMin });
  }

  /** Changes whenever the set of redacted values changes. Text checked before must then be checked again. */
  get version(): number {
    return this.#version;
  }

  /**
   * Redacts the value as `[redacted:NAME]` from now on, also folded, escaped, quoted, reversed, and inside base64 and hex. Returns false,
   * and does not register the value, if it has fewer than 8 characters without white space, quotes, backslashes and plus signs. Above 2,000
   * values, the oldest is dropped.
   */
  register(value: string, name: string): boolean {
    if (!isRecognizable(value)) return false;
    const cleanName = name.replace(/[^A-Za-z0-9._:-]/g, '_').slice(0, 100);
    if (this.#values.get(value) !== cleanName) {
      this.#finder = null;
      this.#forgetClean();
    }
    this.#values.delete(value);
    this.#values.set(value, cleanName);
    const oldest = this.#values.keys().next();
    if (this.#values.size > VALUES_MAX && oldest.done !== true) this.#values.delete(oldest.value);
    return true;
  }

  redact(text: string): Redaction {
    if (text.length < LENGTH_MIN || this.#clean.has(text) || this.#cleanBefore.has(text)) return { text: stillRedacted(text), found: [] };
    const { spans } = this.analyse(text, false);
    if (spans.length === 0) {
      this.#remember(text);
      return { text: stillRedacted(text), found: [] };
    }
    return { text: stillRedacted(renderSpans(text, spans)), found: [...new Set(spans.map((span) => span.name))] };
  }

  /** Redacts registered values only, wherever they are. */
  redactValues(text: string): string {
    const spans: Span[] = [];
    this.#findValues(text, false, (span) => spans.push(span));
    return spans.length === 0 ? text : renderSpans(text, mergeSpans(spans));
  }

  /** If `isOpen`, more text may follow. This is slightly slower, because every prefix is followed to its end. */
  analyse(text: string, isOpen: boolean): Analysis {
    const found = this.#look(text, isOpen, READINGS_MAX);
    const spans = mergeSpans([...found.spans, ...findPersonalData(text, this.#personal)]);
    if (!isOpen) return { spans, openValue: text.length, openPattern: text.length };
    return { spans, openValue: found.openValue, openPattern: Math.min(found.openPattern, openPersonalData(text, this.#personal)) };
  }

  #look(text: string, isOpen: boolean, readings: number): Find {
    // A truncated escape hides the text before it, so it is treated as not yet received.
    const whole = isOpen ? text.slice(0, openEscape(text)) : text;
    const found = this.#inspect(whole, isOpen);
    if (readings === 0) return found;
    const runs = [tableRuns(whole, found.heads), sqlRuns(whole, found.heads), definedTables(whole, found.heads), manifestRuns(whole)];
    if (isOpen) found.openPattern = Math.min(found.openPattern, ...runs.map(({ open }) => open));
    for (const view of [
      unescapedView(whole, this.#reach),
      ...encodedRuns(whole),
      ...numberRuns(whole),
      ...dumpRuns(whole),
      ...uuencodedRuns(whole),
      ...runs.flatMap(({ views }) => views),
    ]) {
      if (view === null) continue;
      const isOpenView = isOpen && view.reachesEnd;
      const inside = this.#look(view.text, isOpenView, readings - 1);
      for (const span of inside.spans) {
        found.spans.push({ ...span, from: view.startOf(span.from), start: view.startOf(span.start), end: view.endOf(span.end) });
      }
      if (!isOpenView) continue;
      found.openValue = Math.min(found.openValue, view.startOf(inside.openValue));
      found.openPattern = Math.min(found.openPattern, view.startOf(inside.openPattern));
    }
    return found;
  }

  /** Checks the text in the form given. */
  #inspect(text: string, isOpen: boolean): Find {
    const spans: Span[] = [];
    const heads: number[] = [];
    let openPattern = text.length;
    const openValue = this.#findValues(text, isOpen, (span, form) => {
      spans.push(span);
      // The character after the match may still arrive.
      if (form.sharesItsEnd && span.end + 7 > text.length) openPattern = Math.min(openPattern, span.start);
    });
    const openTrigger = this.#triggers.scan(text, isOpen, (rule, at) => {
      if (rule.mayHeadColumn === true) heads.push(at);
      const from = beginningOf(rule, text, at);
      const span = matchRule(rule, text, from);
      if (span !== null) spans.push(span);
      if (isOpen && from < openPattern && reachesEnd(rule, text, at)) openPattern = from;
    });
    if (isOpen)
      openPattern = Math.min(
        openPattern,
        openTrigger,
        openRun(text),
        openNumbers(text),
        openDump(text),
        openUuencoded(text),
        openLead(text),
      );
    return { spans, openValue, openPattern, heads };
  }

  /** If `isOpen`, returns the start of an unfinished value at the end of the text; otherwise, and without one, the text's length. */
  #findValues(text: string, isOpen: boolean, onFound: (span: Span, form: NamedForm) => void): number {
    this.#finder ??= this.#createFinder();
    return this.#finder.scan(text, isOpen, (form, start, end) => onFound(spanOfValue(text, form, start, end), form));
  }

  #createFinder(): LiteralFinder<NamedForm> {
    const forms = [...this.#values].flatMap(([value, name]) => secretForms(value).map((form) => ({ ...form, name })));
    const longest = [...this.#values.keys()].reduce((length, value) => Math.max(length, value.length), 0);
    // An escape takes up to twelve characters for one.
    this.#reach = Math.min(REACH_MAX, Math.max(REACH_MIN, longest * 2));
    const literals = forms.map((form) => ({ text: form.text, about: form }));
    return new LiteralFinder(literals, { headLength: formLengthMin, skipped: passedOver });
  }

  /** Caches clean texts: the same text passes several sinks in a row and is checked only at the first. */
  #remember(text: string): void {
    if (text.length > CLEAN_LENGTH_MAX) return;
    if (this.#clean.size >= CLEAN_MAX || this.#cleanLength >= CLEAN_TOTAL_LENGTH_MAX) this.#turnOver();
    this.#clean.add(text);
    this.#cleanLength += text.length;
  }

  #turnOver(): void {
    this.#cleanBefore = this.#clean;
    this.#clean = new Set();
    this.#cleanLength = 0;
  }

  #forgetClean(): void {
    this.#version += 1;
    this.#turnOver();
    this.#cleanBefore = new Set();
  }
}

/** In base64 and base32, the character after a value contains bits of the value, and the padding belongs to it. */
function spanOfValue(text: string, form: NamedForm, start: number, end: number): Span {
  const after = form.sharesItsEnd ? (/^[A-Za-z0-9+/_-]?={0,6}/.exec(text.slice(end, end + 7))?.[0].length ?? 0) : 0;
  return { from: start, start, end: end + after, name: form.name, rank: rankOfSecret };
}

/** Returns the start of trailing text that rules need because they look back from their trigger. */
function openLead(text: string): number {
  return text.length - (/(?:\d{1,12}:|[\w~.-]{1,3})$/.exec(text.slice(-13))?.[0].length ?? 0);
}
