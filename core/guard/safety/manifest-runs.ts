// Reads Secrets of Kubernetes, in YAML and JSON: puts a name before each value under `data` and `stringData`, because the kind of the manifest
// alone says that such a value is a secret. Pure.

import { gap, WrittenView, type TextView } from './text-view.ts';

/** How far `kind` may be from its data. */
const REACH_MAX = 8000;
const kindOf = /(?<=(?:^|[\n{,])([ \t-]{0,12}))"?kind"?:[ \t]{0,3}"?([A-Z]\w{1,60})"?/g;
const blockOf = /(?<=(?:^|\n)([ \t-]{0,12}))(?:data|stringData):[ \t]{0,3}\r?\n/g;
const objectOf = /"(?:data|stringData)"\s{0,4}:\s{0,4}\{/g;
const lineOf = /([ \t]{0,16})["']?[\w.-]{1,100}["']?:[ \t]{1,4}(["']?)([^\s"']{1,8000})\2[ \t]{0,4}(?:\r?\n|$)/y;
const pairOf = /\s{0,20}"[\w.-]{1,100}"\s{0,4}:\s{0,4}"([^"\\]{0,8000})"\s{0,4},?/y;
/** The longest value that the name of a secret is followed by. */
const VALUE_LENGTH_MAX = 200;

interface Kind {
  readonly name: string;
  readonly indent: number;
  readonly at: number;
}

interface ManifestRuns {
  readonly views: readonly TextView[];
  /** The start of a manifest that more text could extend, or the text's length. */
  readonly open: number;
}

export function manifestRuns(text: string): ManifestRuns {
  if (!text.includes('apiVersion')) return { views: [], open: text.length };
  const kinds = [...text.matchAll(kindOf)].map(({ 1: before = '', 2: name = '', index }): Kind => ({
    name,
    indent: before.length,
    at: index,
  }));
  const view = new WrittenView();
  const open = openManifest(text, kinds);
  if (!kinds.some(({ name }) => name === 'Secret')) return { views: [], open };
  for (const found of text.matchAll(blockOf)) {
    if (isOfSecret(text, kinds, found.index, found[1]?.length ?? 0))
      addLines(view, text, found.index + found[0].length, found[1]?.length ?? 0);
  }
  for (const found of text.matchAll(objectOf)) {
    if (isOfSecret(text, kinds, found.index, null)) addPairs(view, text, found.index + found[0].length);
  }
  return { views: view.text === '' ? [] : [view], open };
}

/** Returns whether the nearest kind before or after the data, in the same manifest, is that of a secret. Null for JSON. */
function isOfSecret(text: string, kinds: readonly Kind[], at: number, indent: number | null): boolean {
  const isNear = (kind: Kind): boolean => {
    const [from, to] = [Math.min(kind.at, at), Math.max(kind.at, at)];
    const isAlike = indent === null || kind.indent === indent;
    return kind.name === 'Secret' && isAlike && to - from <= REACH_MAX && !/\n---|\n[ \t]{0,12}- (?!kind)/.test(text.slice(from, to));
  };
  const next = firstAfter(kinds, at);
  return kinds.slice(Math.max(0, next - 1), next + 1).some(isNear);
}

/** The index of the first kind behind the place. */
function firstAfter(kinds: readonly Kind[], at: number): number {
  let [low, high] = [0, kinds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((kinds[middle]?.at ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function addLines(view: WrittenView, text: string, start: number, indent: number): void {
  for (let at = start; ;) {
    lineOf.lastIndex = at;
    const found = lineOf.exec(text);
    if (found === null || (found[1]?.length ?? 0) <= indent) return;
    const value = found[3] ?? '';
    addValue(view, value, at + found[0].indexOf(value, found[0].indexOf(':') + 1));
    at += found[0].length;
  }
}

function addPairs(view: WrittenView, text: string, start: number): void {
  for (let at = start; ;) {
    pairOf.lastIndex = at;
    const found = pairOf.exec(text);
    if (found === null) return;
    const value = found[1] ?? '';
    addValue(view, value, at + found[0].indexOf(value, found[0].indexOf(':') + 1));
    at += found[0].length;
  }
}

function addValue(view: WrittenView, value: string, from: number): void {
  for (let i = 0; i < value.length; i++) {
    if (i % VALUE_LENGTH_MAX === 0) view.add(`\n${gap}\nPASSWORD=`, from + i, from + i);
    view.add(value.charAt(i), from + i, from + i + 1);
  }
}

/** A stream keeps a manifest until its kind is known, and a secret until it ends. */
function openManifest(text: string, kinds: readonly Kind[]): number {
  const begun = text.indexOf('apiVersion', Math.max(0, text.length - REACH_MAX));
  if (begun < 0) return text.length;
  const last = kinds.findLast(({ at }) => at > begun - REACH_MAX);
  return last === undefined || last.name === 'Secret' || !text.slice(last.at).includes('\n') ? begun : text.length;
}
