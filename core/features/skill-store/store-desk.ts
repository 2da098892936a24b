// The operations of the store: plans, installs, and reports newer versions and changes. Loaded on first use. Keeps only the last plan, for
// a limited time.

import * as fs from 'node:fs';
import { join, resolve as resolvePath } from 'node:path';
import { homedir } from 'node:os';
import { AppError, noSuch, toAppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { LockEntry, SkillPlan } from '../../contracts/features/skill-store.ts';
import type { ServedCaller, OpParsed, OpResult } from '../../contracts/ops.ts';
import type { Spine } from '../feature.ts';
import { isDirect, isRemote } from './direct-source.ts';
import { newCommitOf } from './git-source.ts';
import { PackageCache, readLock, writeLock } from './lock-file.ts';
import { Markets } from './markets.ts';
import type { Offer } from './offer.ts';
import { place, sweep, type StoreFs } from './placing.ts';
import { Planner, type PlannedInstall, type PlannerDeps } from './planner.ts';
import { prepare, type Before, type Prepared } from './prepare.ts';
import { readFolder } from './read-package.ts';
import { recoverInstalls } from './recovery.ts';
import type { SkillStoreRows } from './rows.ts';
import type { Shelf } from './shelf.ts';
import { signerFinder } from './signer.ts';
import { effectsOf } from './skill-effects.ts';
import { scanSkill } from './skill-scan.ts';
import { createStoreWeb } from './store-web.ts';
import { newsOf, type Offered } from './news.ts';
import { newestFirst, versionOf } from './versions.ts';

export interface DeskDeps extends Pick<
  Spine,
  'clock' | 'config' | 'facts' | 'home' | 'ids' | 'later' | 'log' | 'logger' | 'panic' | 'safety'
> {
  readonly rows: SkillStoreRows;
  readonly shelf: Shelf;
  /** Defaults to `node:fs`. Tests interrupt it at every call. */
  readonly fs?: StoreFs;
}

const PLAN_MS = 15 * 60_000;

interface KeptPlan {
  readonly planId: string;
  readonly skills: PlannedInstall['skills'];
  readonly isDangerous: boolean;
}

export class StoreDesk {
  readonly #deps: DeskDeps;
  readonly #markets: Markets;
  readonly #planning: PlannerDeps;
  readonly #cache: PackageCache;
  #plan: KeptPlan | null = null;
  #forget: (() => void) | null = null;

  constructor(deps: DeskDeps) {
    const { config, home, safety, panic, shelf } = deps;
    this.#deps = deps;
    const { markets } = config.skills;
    const origins = markets.flatMap(({ url }) => (/^https?:/i.test(url) ? [new URL(url).origin] : []));
    const web = createStoreWeb(safety, origins, () => panic.engaged);
    const { hashes, below } = shelf;
    const signer = signerFinder(
      web,
      config.skills.trustRoots.map((path) => this.#path(path)),
    );
    this.#markets = new Markets(markets, { web, signer, hashes, home });
    this.#cache = new PackageCache(join(home, 'skill-cache'));
    const secretsIn = (text: string) => safety.redact(text).found;
    this.#planning = {
      markets: this.#markets,
      web,
      signer,
      shelf,
      hashes,
      below,
      secretsIn,
      lock: (name) => this.#before(name).lock,
      before: (name) => this.#before(name),
    };
  }

  dispose(): void {
    this.#forget?.();
  }

  async search({ query = '', market }: OpParsed<'skill.search'>, caller: ServedCaller): Promise<OpResult<'skill.search'>> {
    const signal = caller.gone;
    const { offers, problems } = await this.#markets.ask(market ?? null, (one) => one.search(query, signal), signal);
    const there = new Map(this.#deps.shelf.standing().map((one) => [one.name, one]));
    const skills = newestOfEach(offers).map(({ name, version, description, market: from, publisher, verdict, deprecation }) => ({
      name,
      version,
      description,
      market: from ?? '',
      publisher,
      verdict,
      deprecation,
      installed: there.get(name)?.version ?? null,
      isInstalled: there.has(name),
    }));
    return { skills, problems: [...problems] };
  }

  async plan(params: OpParsed<'skill.plan'>, caller: ServedCaller): Promise<SkillPlan> {
    this.#assertGoing();
    // Also where the start resumed nothing: the plan must not take files of a cut-off installation for the person's own.
    recoverInstalls({ ...this.#deps, fs: this.#fs });
    const signal = caller.gone;
    const isUpdate = params.update === true;
    const planner = new Planner(this.#planning, isUpdate, signal);
    const exact = params.lock === undefined ? [] : await this.#locked(this.#path(params.lock), signal);
    const wants = isUpdate && params.wants.length === 0 ? this.#updatable() : params.wants.map((ref) => this.#ref(ref));
    if (wants.length === 0 && exact.length === 0 && !isUpdate)
      throw new AppError('invalid_params', 'Nothing was named to install.', { hint: 'Name a skill, a folder, an archive or an address.' });
    const { skills, unchanged } = await planner.plan({ wants, sha256: params.sha256 ?? null, exact });
    const shown = skills.map((one) => one.shown);
    const isDangerous = shown.some(({ risks }) => risks.some(({ level }) => level === 'danger'));
    const planId = skills.length === 0 ? null : this.#keep({ skills, isDangerous });
    return { planId, skills: shown, unchanged, isDangerous };
  }

  async install({ planId, despiteDangers, pin }: OpParsed<'skill.install'>, caller: ServedCaller): Promise<OpResult<'skill.install'>> {
    this.#assertGoing();
    const plan = this.#plan;
    if (plan?.planId !== planId)
      throw new AppError('conflict', 'This plan is not the one that was shown last, or was shown too long ago.', {
        hint: 'Nothing was changed. Look at it again.',
      });
    if (plan.isDangerous && despiteDangers !== true)
      throw new AppError('denied', 'It looks dangerous, so it was not installed.', {
        hint: 'Read what was found. If you know better: --despite-dangers',
      });
    for (const { shown } of plan.skills) this.#assertUnused(shown.name);
    const entries = plan.skills.map((one) => this.#entry(one, { by: caller.actor, isPinned: pin === true }));
    this.#place(plan, entries, caller);
    this.#drop();
    for (const { prepared } of plan.skills) await this.#cache.put(prepared.inspected.sha256, prepared.inspected.files);
    const folder = this.#deps.shelf.folder;
    const installed = entries.map(({ name, version, sha256 }) => ({ name, version, path: join(folder, name), sha256 }));
    return { installed, lockFile: this.writeLock() };
  }

  writeLock(): string {
    const { rows, shelf, home } = this.#deps;
    return writeLock(
      home,
      rows.entries().filter(({ name }) => fs.existsSync(join(shelf.folder, name))),
    );
  }

  async outdated(caller: ServedCaller): Promise<OpResult<'skill.outdated'>> {
    const signal = caller.gone;
    const { rows, shelf } = this.#deps;
    const all = rows.entries();
    const skills: OpResult<'skill.outdated'>['skills'] = [];
    for (const lock of all) {
      const state = this.#stateOf(lock);
      if (state === 'missing') continue;
      const isUnneeded = !lock.isWanted && shelf.usersOf(lock.name).length === 0;
      skills.push({ ...newsOf(lock, all, await this.#offersOf(lock, signal)), state, isPinned: lock.isPinned, isUnneeded });
    }
    return { skills };
  }

  info(name: string): OpResult<'skill.info'> {
    const { rows, shelf, safety } = this.#deps;
    const lock = rows.entry(name);
    const all = shelf.standing();
    const standing = all.find((one) => one.name === name);
    if (standing === undefined && lock === null)
      throw noSuch(
        'skill',
        name,
        all.map((one) => one.name),
        'Search the markets with: trayclaw skills search WORDS',
      );
    const read = standing === undefined ? null : this.#inspected(standing.path, name);
    const secretsIn = (text: string) => safety.redact(text).found;
    return {
      name,
      state: lock === null ? 'not-from-store' : this.#stateOf(lock),
      lock,
      usedBy: [...shelf.usersOf(name)],
      effects: read === null ? [] : effectsOf(read.head, read.files),
      risks: read === null ? [] : scanSkill({ files: read.files, name, description: read.head.description, secretsIn }),
    };
  }

  pin({ name, pinned }: OpParsed<'skill.pin'>, caller: ServedCaller): OpResult<'skill.pin'> {
    if (this.#deps.rows.entry(name) === null) throw new AppError('not_found', `${name} was not installed from anywhere.`);
    this.#append({ type: 'skill.pinned', body: { name, isPinned: pinned, by: caller.actor } });
    this.writeLock();
    return { name, isPinned: pinned };
  }

  get #fs(): StoreFs {
    return this.#deps.fs ?? fs;
  }

  #append(...drafts: Parameters<Spine['log']['append']>[1]): void {
    this.#deps.log.append(systemSessionId, drafts, true);
  }

  #place(plan: KeptPlan, entries: readonly LockEntry[], caller: ServedCaller): void {
    const { shelf, ids } = this.#deps;
    const installId = ids.next('evt');
    const by = caller.actor;
    const arrivals = plan.skills.map(({ shown, prepared }) => ({
      name: shown.name,
      files: prepared.inspected.files,
      sha256: shown.sha256,
      before: shown.installed?.sha256 ?? null,
    }));
    const trusts = entries.map(({ name, sha256 }) => ({
      type: 'skill.trusted' as const,
      body: { name, target: { kind: 'content' as const, path: join(shelf.folder, name), sha256 }, trusted: true, by },
    }));
    try {
      place(arrivals, shelf.folder, installId, {
        fs: this.#fs,
        contentOf: shelf.contentOf,
        begin: (moves) => this.#append({ type: 'skill.installing', body: { installId, moves: [...moves], by } }),
        commit: () => this.#append({ type: 'skill.installed', body: { installId, skills: [...entries], by } }, ...trusts),
        undone: (reason) => this.#append({ type: 'skill.install_undone', body: { installId, reason: reason.slice(0, 500) } }),
      });
      sweep(shelf.folder, this.#fs);
    } finally {
      shelf.reload();
    }
  }

  #entry({ shown, isWanted }: PlannedInstall['skills'][number], { by, isPinned }: { by: string; isPinned: boolean }): LockEntry {
    const { name, version, sha256, source, files, requires, risks } = shown;
    const count = (level: string): number => risks.filter((one) => one.level === level).length;
    const before = this.#deps.rows.entry(name);
    return {
      name,
      version,
      sha256,
      source,
      files: [...files],
      requires: [...requires],
      isWanted: isWanted || before?.isWanted === true,
      isPinned: isPinned || before?.isPinned === true,
      risks: { danger: count('danger'), warning: count('warning') },
      approvedBy: by,
      approvedAtMs: this.#deps.clock.nowMs(),
    };
  }

  #keep(plan: Omit<KeptPlan, 'planId'>): string {
    this.#drop();
    const planId = this.#deps.ids.next('evt');
    this.#plan = { planId, ...plan };
    this.#forget = this.#deps.later(PLAN_MS, () => this.#drop());
    return planId;
  }

  #drop(): void {
    this.#forget?.();
    this.#forget = null;
    this.#plan = null;
  }

  /** A running turn keeps the version it began with, because its instructions and files belong together. */
  #assertUnused(name: string): void {
    const { shelf, log } = this.#deps;
    const open = new Set(log.index.openTurns().map(({ turnId }) => turnId));
    if (open.size === 0 || !shelf.openedIn(name).some((turnId) => open.has(turnId))) return;
    throw new AppError('conflict', `A turn that has not ended uses ${name}.`, {
      hint: 'Nothing was changed. Wait until it has ended, or stop it, then install again.',
    });
  }

  #assertGoing(): void {
    if (this.#deps.panic.engaged) throw new AppError('panic_engaged', 'Nothing is installed while everything is stopped.');
  }

  #before(name: string): Before {
    const { rows, shelf } = this.#deps;
    const all = shelf.standing();
    const own = join(shelf.folder, name);
    const content = this.#fs.existsSync(own) ? shelf.contentOf(own) : null;
    return {
      standing: all.find((one) => one.name === name) ?? null,
      lock: content === null ? null : rows.entry(name),
      content,
      inspected: content === null ? null : this.#inspected(own, name),
      names: all.map((one) => one.name),
    };
  }

  #inspected(path: string, name: string) {
    try {
      const read = this.#deps.shelf.inspect(readFolder(path).files, name);
      return read.ok ? read.value : null;
    } catch {
      // The folder contains files that no package may have. It can be replaced, but not compared.
      return null;
    }
  }

  #stateOf({ name, sha256 }: LockEntry): 'as-installed' | 'changed' | 'missing' {
    const content = this.#deps.shelf.contentOf(join(this.#deps.shelf.folder, name));
    return content === null ? 'missing' : content === sha256 ? 'as-installed' : 'changed';
  }

  #updatable(): string[] {
    return this.#deps.rows
      .entries()
      .filter((lock) => !lock.isPinned && this.#stateOf(lock) !== 'missing' && (lock.source.market !== null || lock.source.kind === 'git'))
      .map(({ name }) => name);
  }

  async #offersOf({ name, source }: LockEntry, signal: AbortSignal): Promise<Offered> {
    try {
      if (source.kind === 'git') return { offers: [], problem: null, newCommit: await newCommitOf(source, this.#planning.web, signal) };
      if (source.market === null) return { offers: [], problem: null };
      const { offers } = await this.#markets.ask(source.market, (market) => market.offers(name, signal), signal);
      return { offers, problem: offers.length === 0 ? `${source.market} offers it no longer.` : null };
    } catch (cause) {
      if (signal.aborted) throw cause;
      return { offers: [], problem: toAppError(cause).message };
    }
  }

  /** Takes each skill from the cache, or downloads it from its source. Either way its content must match the lock file. */
  async #locked(path: string, signal: AbortSignal): Promise<Prepared[]> {
    const all: Prepared[] = [];
    for (const entry of readLock(path)) {
      const cached = this.#cache.get(entry.sha256);
      const fresh = cached === null ? await this.#again(entry, signal) : null;
      const delivered = fresh ?? (cached === null ? null : { read: cached, source: entry.source, risks: [] });
      if (delivered === null)
        throw new AppError('not_found', `${entry.name} ${entry.version ?? ''} is neither in the cache nor at ${entry.source.ref}.`);
      const prepared = prepare(delivered, { name: entry.name, version: entry.version }, this.#planning);
      if (prepared.inspected.sha256 !== entry.sha256)
        throw new AppError('denied', `What was found of ${entry.name} is not what the lock file lists.`, { hint: 'Nothing was changed.' });
      all.push(prepared);
    }
    return all;
  }

  async #again({ name, version, source }: LockEntry, signal: AbortSignal) {
    if (source.market !== null) {
      const { offers } = await this.#markets.ask(source.market, (market) => market.offers(name, signal), signal);
      return (await offers.find((offer) => offer.version === version)?.deliver(signal)) ?? null;
    }
    const { directSkills } = await import('./direct-source.ts');
    return (await directSkills({ ref: source.ref, sha256: null, commit: source.commit }, this.#planning, signal))[0] ?? null;
  }

  #ref(ref: string): string {
    return isDirect(ref) && !isRemote(ref) ? this.#path(ref) : ref;
  }

  #path(path: string): string {
    return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolvePath(this.#deps.facts.workspace, path);
  }
}

/** A search lists each skill of each market once, with its newest version. */
function newestOfEach(offers: readonly Offer[]): Offer[] {
  const best = new Map<string, Offer>();
  for (const offer of offers.toSorted((a, b) => newestFirst(versionOf(a.version), versionOf(b.version)))) {
    const key = `${offer.market ?? ''}/${offer.name}`;
    if (offer.revoked === null && !best.has(key)) best.set(key, offer);
  }
  return [...best.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
