// Turns a delivered package into what a person is shown and what is installed: reads it, scans it, and compares it with the installed
// version. Pure.

import { diffOfTexts } from '../../base/diff-lines.ts';
import { revealed } from '../../base/visible-text.ts';
import type { LockEntry, PlannedSkill, SkillFileChange, SkillRisk, SkillSource } from '../../contracts/features/skill-store.ts';
import { type Delivered, type Deprecation } from './offer.ts';
import { refusal } from './package-paths.ts';
import { sha256Of } from './read-package.ts';
import { effectsOf, undeclaredRisks } from './skill-effects.ts';
import { assertSameSigner } from './signer.ts';
import { isText, risk, scanSkill } from './skill-scan.ts';
import type { Inspected, Shelf, Standing } from './shelf.ts';
import { versionOrder } from './versions.ts';

export interface Prepared {
  readonly inspected: Inspected;
  readonly delivered: Delivered;
  readonly risks: readonly SkillRisk[];
}

export interface PrepareDeps {
  readonly shelf: Shelf;
  readonly secretsIn: (text: string) => readonly string[];
}

const CONTEXT_LINES = 3;
const DIFF_LINES_MAX = 2_000;
const LINE_CHARS_MAX = 1_000;
const BODY_CHARS_MAX = 100_000;
const NEAR_CHARS_MIN = 5;

/** Fails with denied if the package is not a skill or not the requested one. */
export function prepare(
  delivered: Delivered,
  asked: { readonly name: string | null; readonly version: string | null },
  deps: PrepareDeps,
): Prepared {
  const { files, folderName } = delivered.read;
  const read = deps.shelf.inspect(files, folderName);
  if (!read.ok) throw refusal(`${read.error.reason.replace(/\.$/, '')} (${read.error.hint.replace(/\.$/, '')})`);
  const inspected = read.value;
  const { name, head } = inspected;
  if (asked.name !== null && name !== asked.name) throw refusal(`it calls itself ${name}, and ${asked.name} was asked for`);
  const scanned = scanSkill({ files: inspected.files, name, description: head.description, secretsIn: deps.secretsIn });
  const other = asked.version !== null && head.version !== null && head.version !== asked.version;
  const mismatch = other ? [risk('danger', 'other-version', `Its source calls it ${asked.version}, its files ${head.version ?? ''}.`)] : [];
  const effects = effectsOf(head, inspected.files);
  return { inspected, delivered, risks: [...delivered.risks, ...mismatch, ...scanned, ...undeclaredRisks(effects)] };
}

/** The state of a skill before the installation. */
export interface Before {
  /** The skill with this name that is in use, wherever it is. */
  readonly standing: Standing | null;
  readonly lock: LockEntry | null;
  /** The hash of its current files in the store's folder; null if there are none. */
  readonly content: string | null;
  readonly inspected: Inspected | null;
  /** The names of all available skills. */
  readonly names: readonly string[];
}

/** `isExact` means that a version was named, so an older one is intended. */
export function planned(prepared: Prepared, before: Before, because: readonly string[], isExact: boolean): PlannedSkill {
  const { inspected, delivered } = prepared;
  const { head, files, name, sha256, isConverted, findings } = inspected;
  const { lock, content, standing } = before;
  const effects = effectsOf(head, files);
  const risks = [
    ...prepared.risks,
    ...originRisks(prepared, before),
    ...versionRisks(prepared, before, isExact),
    ...effectRisks(effects, before),
  ];
  return {
    name,
    description: revealed(head.description),
    version: head.version,
    installed:
      content === null
        ? null
        : { version: lock?.version ?? standing?.version ?? null, sha256: content, isChanged: lock !== null && lock.sha256 !== content },
    because: [...because],
    source: delivered.source,
    sha256,
    license: head.license,
    homepage: head.homepage,
    isConverted,
    deprecation: head.deprecation,
    requires: head.requires.map((one) => ({ ...one })),
    effects,
    risks: risks.toSorted(byLevel),
    findings: [...findings],
    files: filesOf(files),
    changes: before.inspected === null ? [] : changesBetween(before.inspected.files, files),
    body: revealed(inspected.body.slice(0, BODY_CHARS_MAX)),
  };
}

function originRisks({ inspected: { name }, delivered }: Prepared, { standing, lock, content, names }: Before): SkillRisk[] {
  const { source } = delivered;
  if (lock === null) {
    const near = names.find((other) => other !== name && isNear(other, name));
    return [
      ...(near === undefined
        ? []
        : [risk('warning', 'near-name', `Its name is almost that of ${near}, which you have. Is it the one you mean?`)]),
      ...(standing === null || standing.isOwn
        ? []
        : [risk('danger', 'takes-name', `It would take the place of the skill ${name} in ${standing.path}.`)]),
      ...(content === null
        ? []
        : [risk('danger', 'replaces-own', `There is a skill ${name} that was not installed from anywhere; its files would be replaced.`)]),
    ];
  }
  const { source: old } = lock;
  if (old.market !== source.market || (old.market === null && originOf(old) !== originOf(source)))
    return [risk('danger', 'other-origin', `What you have came from ${old.ref}, this comes from ${source.ref}.`)];
  assertSameSigner(name, old, source);
  if (old.publisher === source.publisher) return movedRisks(old, delivered);
  return [
    risk(
      'danger',
      'other-publisher',
      `What you have is of ${old.publisher ?? 'an unnamed publisher'}, this is of ${source.publisher ?? 'an unnamed publisher'}.`,
    ),
  ];
}

/** All commits of a repository are one origin. */
function originOf({ kind, from, ref }: SkillSource): string {
  return kind === 'git' ? from : ref;
}

function movedRisks(old: SkillSource, { source, isFixedRef }: Delivered): SkillRisk[] {
  if (old.commit === null || source.commit === null || old.commit === source.commit) return [];
  const words = `What you have is commit ${old.commit.slice(0, 12)}, this is ${source.commit.slice(0, 12)}.`;
  if (old.ref !== source.ref || isFixedRef !== true) return [risk('note', 'other-commit', words)];
  return [risk('danger', 'moved-tag', `${words} Both are called ${source.ref}, and a tag should not be moved.`)];
}

function versionRisks({ inspected: { head, sha256 } }: Prepared, { lock, content }: Before, isExact: boolean): SkillRisk[] {
  const deprecated = head.deprecation === null ? [] : [risk('warning', 'deprecated', deprecationWords(head.deprecation))];
  if (lock === null) return deprecated;
  const isSame = head.version !== null && head.version === lock.version && sha256 !== lock.sha256;
  const isOlder = versionOrder(head.version, lock.version) < 0;
  const isChanged = content !== null && content !== lock.sha256;
  return [
    ...deprecated,
    ...(isSame
      ? [risk('danger', 'same-version', `It is version ${head.version ?? ''} again, with other content than the one you have.`)]
      : []),
    ...(isOlder ? [risk(isExact ? 'warning' : 'danger', 'older', `It is older than the one you have (${lock.version ?? ''}).`)] : []),
    ...(isChanged ? [risk('warning', 'local-changes', 'Its files were changed since it was installed; these changes would be lost.')] : []),
  ];
}

/** The risk of an update that needs more than the installed version. */
function effectRisks(effects: PlannedSkill['effects'], { inspected }: Before): SkillRisk[] {
  if (inspected === null) return [];
  const known = new Set(effectsOf(inspected.head, inspected.files).map(({ kind, name }) => `${kind} ${name}`));
  const more = effects.map(({ kind, name }) => `${kind} ${name}`).filter((one) => !known.has(one));
  return more.length === 0 ? [] : [risk('warning', 'wants-more', `It wants more than the one you have: ${more.slice(0, 8).join(', ')}.`)];
}

export function deprecationWords({ replacedBy, removeAfter }: Deprecation): string {
  const until = removeAfter === null ? '' : ` It goes after ${removeAfter}.`;
  return `It is deprecated.${replacedBy === null ? '' : ` Use ${replacedBy} in its place.`}${until}`;
}

const levels: readonly SkillRisk['level'][] = ['danger', 'warning', 'note'];

function byLevel(a: SkillRisk, b: SkillRisk): number {
  return levels.indexOf(a.level) - levels.indexOf(b.level);
}

export function filesOf(files: ReadonlyMap<string, Uint8Array>): PlannedSkill['files'] {
  const all = [...files].map(([path, content]) => ({ path, sha256: sha256Of(content), sizeBytes: content.length }));
  return all.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function changesBetween(before: ReadonlyMap<string, Uint8Array>, after: ReadonlyMap<string, Uint8Array>): SkillFileChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path): SkillFileChange[] => {
    const old = before.get(path);
    const now = after.get(path);
    if (old !== undefined && now !== undefined && Buffer.from(old).equals(now)) return [];
    const kind = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed';
    return [{ path, kind, lines: linesBetween(old ?? new Uint8Array(), now ?? new Uint8Array()) }];
  });
}

function linesBetween(old: Uint8Array, now: Uint8Array): SkillFileChange['lines'] {
  if (!isText(old) || !isText(now)) return null;
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
  const all = diffOfTexts(text(old), text(now));
  const isNearChange = (at: number): boolean =>
    all.slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1).some(({ kind }) => kind !== 'same');
  const shown = all.filter((_, at) => isNearChange(at));
  return shown.slice(0, DIFF_LINES_MAX).map(({ kind, text: line }) => ({ kind, text: revealed(line.slice(0, LINE_CHARS_MAX)) }));
}

/** Whether the names differ by one letter added, removed or changed, or by two letters swapped. */
export function isNear(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length < NEAR_CHARS_MIN || long.length - short.length > 1) return short.replaceAll('-', '') === long.replaceAll('-', '');
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  const isSwapped = short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2);
  return isSwapped || short.slice(at + 1) === long.slice(at + 1);
}
