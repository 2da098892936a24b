// Operations for people who write skills: create a skill from a template, test it with its own cases, pack it as one archive, and publish
// it to the author's market, which any web server can serve. Writes only to folders that the caller names.

import * as fs from 'node:fs';
import { basename, join, resolve } from 'node:path';
import semver from 'semver';
import { replaceFile } from '../../base/rename-over.ts';
import { AppError, noPath } from '../../contracts/errors.ts';
import type { OpParsed, OpResult } from '../../contracts/ops.ts';
import { makeZip } from './lock-file.ts';
import { parseIndex, type IndexEntry, type MarketIndex } from './market-index.ts';
import { prepare, type PrepareDeps, type Prepared } from './prepare.ts';
import { readFolder, sha256Of } from './read-package.ts';
import { effectsOf } from './skill-effects.ts';

type RanCases = Omit<OpResult<'eval.run'>, 'exported'>;

export interface AuthoringDeps extends PrepareDeps {
  readonly workspace: string;
  /** Runs the cases in a folder with the skill available and trusted. */
  runCases(params: OpParsed<'eval.run'>, skill: { readonly folder: string; readonly sha256: string }): Promise<RanCases>;
}

const CASES = 'evals';

export class Authoring {
  readonly #deps: AuthoringDeps;

  constructor(deps: AuthoringDeps) {
    this.#deps = deps;
  }

  create({ name, into, description }: OpParsed<'skill.new'>): OpResult<'skill.new'> {
    const path = join(this.#path(into), name);
    if (fs.existsSync(path))
      throw new AppError('conflict', `There is already something at ${path}.`, {
        hint: 'Nothing was changed. Take another name or folder.',
      });
    const files = { 'SKILL.md': skillText(name, description), [`${CASES}/first.yaml`]: caseText(name) };
    for (const [file, text] of Object.entries(files)) replaceFile(fs, join(path, file), text);
    return { path, files: Object.keys(files) };
  }

  async test({ path, model }: OpParsed<'skill.test'>): Promise<OpResult<'skill.test'>> {
    const { folder, prepared } = this.#read(this.#folderOf(path));
    const { inspected, risks } = prepared;
    const cases = join(folder, CASES);
    const about = { folder, sha256: inspected.sha256 };
    const run = fs.existsSync(cases) ? await this.#deps.runCases({ path: cases, ...(model === undefined ? {} : { model }) }, about) : null;
    const isSound = !inspected.findings.some(({ severity }) => severity === 'error') && !risks.some(({ level }) => level === 'danger');
    return {
      name: inspected.name,
      isGood: isSound && (run === null || run.failed + run.errors === 0),
      findings: [...inspected.findings],
      risks: [...risks],
      effects: effectsOf(inspected.head, inspected.files),
      run: run === null ? null : shownRun(run),
    };
  }

  async pack({ path, out }: OpParsed<'skill.pack'>): Promise<OpResult<'skill.pack'>> {
    const { prepared } = this.#read(path);
    const { name, head, sha256: contentSha256, files } = prepared.inspected;
    const bytes = await makeZip(files);
    const archive = join(this.#path(out ?? '.'), archiveName(name, head.version));
    replaceFile(fs, archive, bytes);
    return { name, version: head.version, archive, sizeBytes: bytes.length, sha256: sha256Of(bytes), contentSha256 };
  }

  /** Versions are immutable: different content under a published version is refused. */
  async publish({ path, to, name: market, revoke }: OpParsed<'skill.publish'>): Promise<OpResult<'skill.publish'>> {
    const { prepared } = this.#read(path);
    const { name, head, files, findings } = prepared.inspected;
    const [error] = findings.filter(({ severity }) => severity === 'error');
    if (error !== undefined)
      throw new AppError('invalid_params', `${name} was not published: ${error.message}`, {
        hint: `See all with: trayclaw skills lint ${path}`,
      });
    const version = semver.valid(head.version);
    if (version === null)
      throw new AppError('invalid_params', `${name} was not published: it needs a version such as 1.0.0 in its metadata.`);
    const bytes = await makeZip(files);
    const sha256 = sha256Of(bytes);
    const place = this.#path(to);
    const index = join(place, 'index.json');
    const before: MarketIndex = fs.existsSync(index) ? parseIndex(fs.readFileSync(index), index) : { skills: [] };
    const other = before.skills.find((entry) => entry.name === name && entry.version === version);
    if (other !== undefined && other.sha256 !== sha256)
      throw new AppError('conflict', `${name} ${version} is published already, with other content.`, { hint: 'Give it a new version.' });
    const archive = archiveName(name, version);
    replaceFile(fs, join(place, archive), bytes);
    const entry = { ...entryOf(prepared, version), path: archive, sha256, ...(revoke === undefined ? {} : { revoked: revoke }) };
    const others = before.skills.filter((one) => one !== other);
    const skills = [...others, entry].sort((a, b) =>
      a.name === b.name ? semver.rcompare(a.version ?? '0.0.0', b.version ?? '0.0.0') : a.name < b.name ? -1 : 1,
    );
    replaceFile(fs, index, `${JSON.stringify({ ...before, marketplace: market ?? before.marketplace ?? 'skills', skills }, null, 2)}\n`);
    const change = revoke === undefined ? 'published' : 'withdrawn';
    return { name, version, change, index, archive: join(place, archive), sha256 };
  }

  #read(path: string): { folder: string; prepared: Prepared } {
    const given = this.#path(path);
    if (!fs.existsSync(given)) throw noPath('folder', given);
    const folder = fs.realpathSync(given);
    const source = {
      ref: folder,
      kind: 'folder',
      market: null,
      from: folder,
      publisher: null,
      commit: null,
      archiveSha256: null,
      verified: '',
      signer: null,
    } as const;
    return { folder, prepared: prepare({ read: readFolder(folder), source, risks: [] }, { name: null, version: null }, this.#deps) };
  }

  /** The folder at the path. If there is none, the folder of the skill with that name. */
  #folderOf(path: string): string {
    const given = this.#path(path);
    const named = fs.existsSync(given) ? undefined : this.#deps.shelf.standing().find(({ name }) => name === basename(given));
    return named?.path ?? given;
  }

  #path(path: string): string {
    return resolve(this.#deps.workspace, path);
  }
}

function shownRun({ runId, passed, failed, errors, cases }: RanCases): NonNullable<OpResult<'skill.test'>['run']> {
  const reasonOf = ({ checks, error }: RanCases['cases'][number]): string => error ?? checks.find(({ pass }) => !pass)?.reason ?? '';
  return { runId, passed, failed, errors, cases: cases.map((one) => ({ name: one.name, verdict: one.verdict, reason: reasonOf(one) })) };
}

function archiveName(name: string, version: string | null): string {
  return `${name}-${version ?? '0.0.0'}.zip`;
}

function entryOf({ inspected }: Prepared, version: string): Omit<IndexEntry, 'sha256' | 'path'> {
  const { name, head } = inspected;
  return {
    name,
    version,
    description: head.description,
    requires: Object.fromEntries(head.requires.map((one) => [one.name, one.range])),
    ...(head.deprecation === null ? {} : { deprecated: head.deprecation }),
  };
}

function skillText(name: string, description = 'Say in one or two sentences what it does and when to use it.'): string {
  return `---
name: ${name}
description: ${JSON.stringify(description)}
metadata:
  version: "0.1.0"
  # What it works with; everything else it does counts as undeclared.
  trayclaw-tools: read_file
  # trayclaw-bins: jq
  # trayclaw-hosts: api.example.com
  # trayclaw-requires: other-skill >=1.0.0 <2.0.0
---

# ${name}

1. Read what the person named with the tool \`read_file\`.
2. Say what follows from it.
`;
}

function caseText(name: string): string {
  return `# Run with: trayclaw skills test FOLDER
tests:
  - description: the skill is used when a person asks for it
    input: $${name} Read notes.txt and say what it says.
    workspace: { notes.txt: "The meeting is on Tuesday." }
    assert:
      - { type: icontains, value: tuesday }
`;
}
