// Assembles the tool calls of an OpenAI-format answer from their pieces, also from servers that omit or repeat the index and the id: a new
// id, or a complete JSON object followed by another, starts a new call. Must not interpret the arguments.

import { isPlainObject, parseJson } from '../../base/json.ts';
import { argsText } from './reply-reader.ts';

const SPLIT_CHARS_MAX = 64 * 1024;
const SPLIT_TRIES_MAX = 64;

export interface CallDraft {
  readonly index: number | null;
  id: string;
  name: string;
  args: string;
  /** Data that the vendor wants back with the call (Gemini: the signature of its thoughts), as JSON text; '' for none. */
  extra: string;
}

interface Piece {
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

export class CallAssembler {
  readonly #drafts: CallDraft[] = [];

  get isEmpty(): boolean {
    return this.#drafts.length === 0;
  }

  /** Adds all pieces of one chunk. `keep` limits the arguments. */
  add(pieces: readonly Record<string, unknown>[], keep: (args: string) => string): void {
    // Without an index, several named pieces in one chunk are several calls.
    const areWhole = pieces.length > 1 && pieces.every((piece) => typeof piece['index'] !== 'number');
    for (const given of pieces) {
      const piece = readPiece(given);
      const draft = this.#draftOf(piece, areWhole && piece.name !== '');
      if (draft.id === '') draft.id = piece.id;
      if (isPlainObject(given['extra_content'])) draft.extra = JSON.stringify(given['extra_content']);
      if (isRepeat(draft, piece)) continue;
      addName(draft, piece.name);
      draft.args += keep(piece.args);
    }
  }

  finish(): readonly CallDraft[] {
    return this.#drafts.flatMap((draft) => {
      const [first, ...more] = splitObjects(draft.args);
      if (first === undefined || more.length === 0) return [draft];
      return [{ ...draft, args: first }, ...more.map((args) => ({ ...draft, id: '', args, extra: '' }))];
    });
  }

  #draftOf(piece: Piece, isWhole: boolean): CallDraft {
    const found = isWhole ? this.#byId(piece.id) : this.#find(piece);
    if (found !== undefined && !startsAnother(found, piece)) return found;
    const draft: CallDraft = {
      index: piece.index,
      id: piece.id,
      name: piece.name === '' ? (found?.name ?? '') : '',
      args: '',
      extra: '',
    };
    this.#drafts.push(draft);
    return draft;
  }

  /** Finds the call that this piece continues. A new id with a name opens a new call even under a used index; a new id alone does not. */
  #find({ index, id, name }: Piece): CallDraft | undefined {
    const last = this.#drafts[this.#drafts.length - 1];
    if (index === null) {
      const byId = this.#byId(id);
      if (byId !== undefined) return byId;
      return id !== '' || (name !== '' && last?.args !== '') ? undefined : last;
    }
    const byIndex = this.#drafts.findLast((draft) => draft.index === index);
    const isOther = byIndex !== undefined && id !== '' && byIndex.id !== '' && byIndex.id !== id && name !== '';
    return isOther ? undefined : byIndex;
  }

  #byId(id: string): CallDraft | undefined {
    return id === '' ? undefined : this.#drafts.findLast((draft) => draft.id === id);
  }
}

function readPiece(piece: Record<string, unknown>): Piece {
  const fn = isPlainObject(piece['function']) ? piece['function'] : piece;
  return {
    index: typeof piece['index'] === 'number' ? piece['index'] : null,
    id: typeof piece['id'] === 'string' ? piece['id'] : '',
    name: typeof fn['name'] === 'string' ? fn['name'] : '',
    args: argsText(fn['arguments']),
  };
}

/** Some servers repeat a whole call at its end. */
function isRepeat(draft: CallDraft, { id, name, args }: Piece): boolean {
  return args !== '' && args === draft.args && (id === '' || id === draft.id) && (name === '' || name === draft.name) && isObjectText(args);
}

/** Returns whether the call's arguments are already complete, so that the piece belongs to the next call. */
function startsAnother(draft: CallDraft, piece: Piece): boolean {
  if (!/^\s*\{/.test(piece.args) || !draft.args.trimEnd().endsWith('}') || isRepeat(draft, piece)) return false;
  return isObjectText(draft.args);
}

function isObjectText(args: string): boolean {
  const parsed = parseJson(args);
  return parsed.ok && isPlainObject(parsed.value);
}

/** Splits `{…}{…}` into two texts; returns any other text unchanged. */
function splitObjects(args: string): string[] {
  if (args.length > SPLIT_CHARS_MAX || !args.includes('}{') || isObjectText(args)) return [args];
  const found: string[] = [];
  let rest = args;
  let tries = 0;
  for (let at = rest.indexOf('}{'); at !== -1 && tries < SPLIT_TRIES_MAX; at = rest.indexOf('}{', at)) {
    tries += 1;
    at += 1;
    if (!isObjectText(rest.slice(0, at))) continue;
    found.push(rest.slice(0, at));
    rest = rest.slice(at);
    at = 0;
  }
  return found.length > 0 && isObjectText(rest) ? [...found, rest] : [args];
}

/** Servers send the name once, repeat it with every piece, send growing prefixes, or split it into pieces. */
function addName(draft: CallDraft, name: string): void {
  if (name === '' || name === draft.name || draft.args !== '') {
    if (draft.name === '') draft.name = name;
    return;
  }
  draft.name = name.startsWith(draft.name) ? name : draft.name + name;
}
