// Versioned prompt files: one folder per prompt in the data folder, one file per version, and an optional remote source for new versions.
// Only local versions are used. Version 0 of TrayClaw's own prompts is their built-in text.

import { diffOfTexts, type DiffLine } from '../../base/diff-lines.ts';
import { hash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../base/rename-over.ts';
import { AppError, noSuch, toAppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { PromptListing, PromptsConfig } from '../../contracts/features/identity.ts';
import { builtInPrompt, isOwnPrompt, ownPromptNames, ownPrompts, unknownSlot, type OwnPromptName } from '../../contracts/own-prompts.ts';

export interface PromptBookDeps {
  /** Texts of the host program that replace the built-in ones. */
  readonly own?: Readonly<Partial<Record<OwnPromptName, string>>>;
  readonly folder: string;
  readonly sources: PromptsConfig;
  /** Fetches over the guarded connection. Fails with an AppError. */
  fetchText(source: PromptsConfig[string], signal: AbortSignal): Promise<string>;
  record(sessionId: string, drafts: readonly AnyDraft[]): void;
}

const TEXT_CHARS_MAX = 20_000;
const SHOWN_CHARS = 2_000;
const INCOMING = 'incoming.md';
const FETCH_MS = 15_000;

export class PromptBook {
  readonly #deps: PromptBookDeps;
  readonly #problems = new Map<string, string>();

  /** TrayClaw's own prompts, cached so that a turn does not access the disk. */
  readonly #own = new Map<OwnPromptName, string>();

  /** Fails with invalid_config if a text of the host program is not valid for the prompt it replaces. */
  constructor(deps: PromptBookDeps) {
    this.#deps = deps;
    for (const [name, text] of Object.entries(deps.own ?? {})) {
      const problem = isOwnPrompt(name) ? problemOf(name, text) : `There is no prompt ${name} to replace.`;
      if (problem !== null) throw new AppError('invalid_config', problem, { hint: `The own prompts: ${ownPromptNames.join(', ')}` });
    }
  }

  /** The text of one of TrayClaw's own prompts: from its newest file, else from the host program, else built in. */
  own(name: OwnPromptName): string {
    const known = this.#own.get(name);
    if (known !== undefined) return known;
    const text = this.text(name) ?? this.#before(name);
    this.#own.set(name, text);
    return text;
  }

  /** `name` is the newest version, `name@2` is version 2. Null if there is no such version. */
  text(ref: string): string | null {
    const [name = '', version] = ref.split('@');
    const wanted = version === undefined ? this.#versions(name).at(-1) : Number(version);
    if (wanted === 0 && isOwnPrompt(name)) return this.#before(name);
    return wanted === undefined ? null : readText(join(this.#deps.folder, name, `${wanted}.md`));
  }

  /** With `own`, includes TrayClaw's own prompts that no file replaces. */
  list(own = false): PromptListing[] {
    const { folder, sources } = this.#deps;
    const there = fs.existsSync(folder) ? fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()) : [];
    const names = new Set([...there.map(({ name }) => name).filter(isName), ...Object.keys(sources), ...(own ? ownPromptNames : [])]);
    return [...names].sort().map((name) => this.#listing(name));
  }

  /** Fails with not_found. */
  get(name: string, version?: number): { name: string; version: number; text: string } {
    const wanted = version ?? this.#newest(name);
    const text = wanted === undefined ? null : this.text(`${name}@${wanted}`);
    if (wanted === undefined || text === null) {
      const hint = 'See: trayclaw prompts list';
      const newest = this.#newest(name);
      if (newest === undefined)
        throw noSuch(
          'prompt',
          name,
          this.list(true).map((one) => one.name),
          hint,
        );
      throw new AppError('not_found', `There is no version ${version} of the prompt ${name}; the newest is ${newest}.`, { hint });
    }
    return { name, version: wanted, text };
  }

  /** The first version is compared with an empty text. Fails with not_found. */
  diff(name: string, from?: number, to?: number): { from: number; to: number; lines: DiffLine[] } {
    const newer = this.get(name, to);
    const before = from ?? this.#versions(name).findLast((version) => version < newer.version) ?? 0;
    const older = before === 0 && !isOwnPrompt(name) ? { version: 0, text: '' } : this.get(name, before);
    return { from: older.version, to: newer.version, lines: diffOfTexts(older.text, newer.text) };
  }

  set(name: string, text: string, by: string): PromptListing {
    this.#keep(name, text, { url: null, by });
    return this.#listing(name);
  }

  /**
   * Checks the remote source of one prompt, or of all. Accepts text that matches a hash in the configuration; any other text waits for a
   * person.
   */
  async refresh(name: string | undefined, by: string, signal: AbortSignal): Promise<PromptListing[]> {
    const { sources } = this.#deps;
    const names = name === undefined ? Object.keys(sources) : [name];
    for (const one of names) {
      const source = Object.hasOwn(sources, one) ? sources[one] : undefined;
      if (source === undefined) {
        throw new AppError('not_found', `No remote source is set for the prompt ${one}.`, {
          hint: `Set prompts.${one}.url or prompts.${one}.langfuse in config.yaml.`,
        });
      }
      await this.#look(one, source, { by, signal });
    }
    return names.map((one) => this.#listing(one));
  }

  /** Fails with conflict if the waiting text is no longer the one that the person was shown. */
  accept(name: string, sha256: string, by: string): PromptListing {
    const path = join(this.#deps.folder, name, INCOMING);
    const text = readText(path);
    if (text === null)
      throw new AppError('not_found', `Nothing waits for the prompt ${name}.`, {
        hint: `Look for something new with: trayclaw prompts refresh ${name}`,
      });
    if (hashOf(text) !== sha256)
      throw new AppError('conflict', 'The waiting text has changed since it was shown.', { hint: 'Read it again, then accept it.' });
    this.#keep(name, text, { url: placeOf(this.#deps.sources[name]), by });
    fs.rmSync(path, { force: true });
    return this.#listing(name);
  }

  async #look(
    name: string,
    source: PromptsConfig[string],
    { by, signal }: { readonly by: string; readonly signal: AbortSignal },
  ): Promise<void> {
    try {
      const text = (await this.#deps.fetchText(source, AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]))).trim();
      this.#problems.delete(name);
      if (text === '' || text.length > TEXT_CHARS_MAX) {
        this.#problems.set(name, text === '' ? 'The source gave an empty text.' : 'The source gave more than 20,000 characters.');
      } else if (source.sha256 !== undefined && hashOf(text) !== source.sha256) {
        this.#problems.set(name, 'The source gave another text than the one whose hash is set; it was not taken.');
      } else if (this.text(name) !== text) {
        if (source.sha256 === undefined) replaceFile(fs, join(this.#deps.folder, name, INCOMING), `${text}\n`);
        else this.#keep(name, text, { url: placeOf(source), by });
      }
    } catch (cause) {
      this.#problems.set(name, toAppError(cause).message);
    }
  }

  /** Fails with invalid_params if one of TrayClaw's own prompts has an unknown placeholder. */
  #keep(name: string, text: string, { url, by }: { readonly url: string | null; readonly by: string }): void {
    if (this.text(name) === text) return;
    const problem = isOwnPrompt(name) ? problemOf(name, text) : null;
    if (problem !== null) throw new AppError('invalid_params', problem);
    const version = (this.#versions(name).at(-1) ?? 0) + 1;
    replaceFile(fs, join(this.#deps.folder, name, `${version}.md`), `${text}\n`);
    if (isOwnPrompt(name)) this.#own.delete(name);
    this.#deps.record(systemSessionId, [{ type: 'prompt.accepted', body: { name, version, sha256: hashOf(text), url, by } }]);
  }

  #listing(name: string): PromptListing {
    const versions = this.#versions(name);
    const incoming = readText(join(this.#deps.folder, name, INCOMING));
    return {
      name,
      version: this.#newest(name) ?? null,
      versions,
      ...(isOwnPrompt(name) ? { about: ownPrompts[name].about } : {}),
      url: placeOf(this.#deps.sources[name]),
      incoming: incoming === null ? null : { sha256: hashOf(incoming), text: incoming.slice(0, SHOWN_CHARS) },
      problem: this.#problems.get(name) ?? (isOwnPrompt(name) ? problemOf(name, this.own(name)) : null),
    };
  }

  #newest(name: string): number | undefined {
    return this.#versions(name).at(-1) ?? (isOwnPrompt(name) ? 0 : undefined);
  }

  /** The text used if no file replaces the prompt. */
  #before(name: OwnPromptName): string {
    return this.#deps.own?.[name] ?? builtInPrompt(name);
  }

  #versions(name: string): number[] {
    const folder = join(this.#deps.folder, name);
    if (!isName(name) || !fs.existsSync(folder)) return [];
    const numbers = fs.readdirSync(folder).map((file) => Number(/^([1-9]\d{0,5})\.md$/.exec(file)?.[1] ?? 0));
    return numbers.filter((number) => number > 0).sort((a, b) => a - b);
  }
}

export const langfuseLabel = 'production';

/** The source of new versions, for people. */
function placeOf(source: PromptsConfig[string] | undefined): string | null {
  if (source === undefined) return null;
  const { url, langfuse, label = langfuseLabel } = source;
  return url ?? `langfuse:${langfuse ?? ''}@${label}`;
}

function problemOf(name: OwnPromptName, text: string): string | null {
  if (text.trim() === '' || text.length > TEXT_CHARS_MAX) return `The prompt ${name} needs a text of 1 to 20,000 characters.`;
  const slot = unknownSlot(name, text);
  if (slot === null) return null;
  const known = ownPrompts[name].fills.map((fill) => `{{${fill}}}`).join(', ');
  return `Nothing fills in {{${slot}}} in the prompt ${name}; ${known === '' ? 'nothing is filled in there' : `what is filled in: ${known}`}.`;
}

function isName(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,59}$/.test(name);
}

function readText(path: string): string | null {
  try {
    return fs.statSync(path).size > 4 * TEXT_CHARS_MAX ? null : fs.readFileSync(path, 'utf8').trim();
  } catch {
    // The file is missing. The caller decides what that means.
    return null;
  }
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}
