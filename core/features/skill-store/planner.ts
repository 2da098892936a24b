// Plans an installation: resolves the requested names, collects the available versions, resolves their requirements, and downloads and
// prepares what is new. Changes nothing.

import { AppError } from '../../contracts/errors.ts';
import type { LockEntry, PlannedSkill, SkillPlan } from '../../contracts/features/skill-store.ts';
import { directSkills, isDirect, type DirectDeps } from './direct-source.ts';
import type { Markets } from './markets.ts';
import { nameOfSkill, type Offer } from './offer.ts';
import { refusal } from './package-paths.ts';
import { planned, prepare, type Before, type PrepareDeps, type Prepared } from './prepare.ts';
import { resolve, type Choosable, type Need } from './resolver.ts';
import { fits, isExact, newestFirst, rangeOf, versionOf, versionOrder } from './versions.ts';

export interface PlannerDeps extends PrepareDeps, DirectDeps {
  readonly markets: Markets;
  lock(name: string): LockEntry | null;
  before(name: string): Before;
}

export interface PlanWish {
  readonly wants: readonly string[];
  readonly sha256: string | null;
  /** The skills of a lock file, which are installed exactly as locked. */
  readonly exact: readonly Prepared[];
}

export interface PlannedInstall {
  readonly skills: readonly { readonly shown: PlannedSkill; readonly prepared: Prepared; readonly isWanted: boolean }[];
  readonly unchanged: SkillPlan['unchanged'];
}

interface Wanted extends Need {
  readonly market: string | null;
}

/** One version of a skill, from any source. */
interface Candidate extends Choosable {
  requires: readonly Need[];
  readonly stated: string | null;
  readonly offer: Offer | null;
  /** Null if it is installed already or not downloaded yet. */
  prepared: Prepared | null;
  readonly isThere: boolean;
}

const NAMES_MAX = 200;
const DOWNLOADS_MAX = 200;

export class Planner {
  readonly #deps: PlannerDeps;
  readonly #signal: AbortSignal;
  readonly #isUpdate: boolean;
  readonly #pools = new Map<string, Candidate[]>();
  readonly #wanted = new Map<string, Wanted>();
  #downloads = 0;

  constructor(deps: PlannerDeps, isUpdate: boolean, signal: AbortSignal) {
    this.#deps = deps;
    this.#isUpdate = isUpdate;
    this.#signal = signal;
  }

  /** Fails with an AppError that says what conflicts, was not found or was refused. Nothing is changed then. */
  async plan({ wants, sha256, exact }: PlanWish): Promise<PlannedInstall> {
    for (const prepared of exact) this.#putDirect(prepared);
    for (const ref of wants) await this.#want(ref, sha256);
    await this.#gather([...this.#wanted.values()].map((wanted) => ({ ...wanted, from: wanted.market })));
    const resolved = resolve<Candidate>([...this.#wanted.values()], { candidates: (name) => this.#pools.get(name) ?? [], fits });
    if (!resolved.ok) throw new AppError('conflict', resolved.problem, { hint: 'Nothing was changed.' });
    const skills: PlannedInstall['skills'][number][] = [];
    const unchanged: SkillPlan['unchanged'] = [];
    for (const candidate of resolved.chosen) {
      const one = await this.#choose(candidate, resolved.chains.get(candidate.name) ?? []);
      if ('reason' in one) unchanged.push(one);
      else skills.push(one);
    }
    return { skills, unchanged };
  }

  async #choose(
    candidate: Candidate,
    chain: readonly string[],
  ): Promise<PlannedInstall['skills'][number] | SkillPlan['unchanged'][number]> {
    const { name, stated } = candidate;
    const wanted = this.#wanted.get(name);
    const before = this.#deps.before(name);
    if (candidate.isThere)
      return { name, version: stated, reason: wanted === undefined ? 'It is there already.' : 'There is nothing newer.' };
    const prepared = await this.#prepared(candidate);
    if (before.content === prepared.inspected.sha256 && before.lock?.sha256 === before.content)
      return { name, version: stated, reason: 'Exactly these files are installed.' };
    const shown = planned(prepared, before, chain, wanted !== undefined && isExact(wanted.range));
    return { shown, prepared, isWanted: wanted !== undefined && !this.#isUpdate };
  }

  async #want(ref: string, sha256: string | null): Promise<void> {
    if (isDirect(ref)) {
      for (const delivered of await directSkills({ ref, sha256 }, this.#deps, this.#signal))
        this.#putDirect(prepare(delivered, { name: null, version: null }, this.#deps));
      return;
    }
    if (sha256 !== null)
      throw new AppError('invalid_params', 'A hash is given for a folder, an archive or an address; a market has its own.', {});
    const wanted = parseWant(ref);
    const lock = this.#deps.lock(wanted.name);
    if (this.#isUpdate && lock === null)
      throw new AppError('not_found', `${wanted.name} was not installed from anywhere.`, {
        hint: 'See what was with: trayclaw skills outdated',
      });
    if (this.#isUpdate && lock !== null && lock.source.market === null) {
      await this.#want(lock.source.ref, null);
      return;
    }
    // A skill from one market is not replaced by a skill of the same name from another market.
    this.#wanted.set(wanted.name, { ...wanted, market: wanted.market ?? lock?.source.market ?? null });
  }

  #putDirect(prepared: Prepared): void {
    const { name, head } = prepared.inspected;
    if (this.#pools.has(name))
      throw new AppError('conflict', `Two of these skills are called ${name}.`, { hint: 'Install them one by one.' });
    const version = versionOf(head.version);
    this.#pools.set(name, [{ name, version, stated: head.version, requires: head.requires, offer: null, prepared, isThere: false }]);
    this.#wanted.set(name, { name, range: '*', market: null });
  }

  /** Collects the candidates of every name that could be needed, starting with the requested ones. */
  async #gather(first: readonly (Need & { readonly from: string | null })[]): Promise<void> {
    const queue = [...first];
    const asked = new Map<string, string[]>();
    for (let need = queue.shift(); need !== undefined; need = queue.shift()) {
      const { name, range, from } = need;
      const ranges = asked.get(name) ?? [];
      if (ranges.includes(range)) continue;
      asked.set(name, [...ranges, range]);
      if (asked.size > NAMES_MAX) throw new AppError('conflict', `These skills need more than ${NAMES_MAX} others.`);
      const pool = this.#pools.get(name) ?? (await this.#poolOf(name, from));
      this.#pools.set(name, pool);
      for (const candidate of pool.filter(({ version }) => fits(version, range))) {
        const requires = await this.#requiresOf(candidate);
        queue.push(...requires.map((other) => ({ ...other, from: candidate.offer?.market ?? null })));
      }
    }
  }

  async #requiresOf(candidate: Candidate): Promise<readonly Need[]> {
    if (candidate.requires.length > 0 || candidate.isThere || candidate.prepared !== null) return candidate.requires;
    if (candidate.offer === null || candidate.offer.requires !== null) return candidate.requires;
    const { inspected } = await this.#prepared(candidate);
    return inspected.head.requires;
  }

  async #prepared(candidate: Candidate): Promise<Prepared> {
    const { offer, name, stated } = candidate;
    if (candidate.prepared !== null) return candidate.prepared;
    if (offer === null) throw new AppError('internal', 'a candidate without files');
    this.#downloads += 1;
    if (this.#downloads > DOWNLOADS_MAX) throw new AppError('conflict', `This would need more than ${DOWNLOADS_MAX} downloads.`);
    const prepared = prepare(await offer.deliver(this.#signal), { name, version: stated }, this.#deps);
    const { requires } = prepared.inspected.head;
    if (offer.requires !== null && needsText(offer.requires) !== needsText(requires))
      throw refusal(`the market ${offer.market ?? ''} says that ${name} needs other skills than its files say`);
    candidate.prepared = prepared;
    candidate.requires = requires;
    return prepared;
  }

  /** For a dependency the installed version comes first; for a requested skill, the newest. */
  async #poolOf(name: string, from: string | null): Promise<Candidate[]> {
    const { standing, lock } = this.#deps.before(name);
    const wanted = this.#wanted.get(name);
    const there: Candidate[] =
      standing === null ? [] : [{ name, version: versionOf(standing.version), stated: standing.version, requires: standing.requires, offer: null, prepared: null, isThere: true }]; // prettier-ignore
    if (wanted === undefined && there.length > 0 && this.#deps.markets.names.length === 0) return there;
    const offers = await this.#offersOf(name, from, lock);
    const good = offers.filter(({ revoked }) => revoked === null);
    const fromMarkets = good
      .map((offer): Candidate => ({
        name,
        version: versionOf(offer.version),
        stated: offer.version,
        requires: offer.requires ?? [],
        offer,
        prepared: null,
        isThere: false,
      })) // prettier-ignore
      .sort((a, b) => newestFirst(a.version, b.version));
    if (wanted === undefined) return [...there, ...fromMarkets.filter(({ version }) => version !== there[0]?.version)];
    const withdrawn = offers.find(({ revoked }) => revoked !== null);
    if (fromMarkets.length === 0 && withdrawn !== undefined)
      throw new AppError('denied', `${name} was withdrawn: ${withdrawn.revoked ?? ''}.`, { hint: 'Nothing was installed.' });
    if (!this.#isUpdate || lock === null) return fromMarkets;
    const newer = fromMarkets.filter(({ version }) => versionOrder(version, lock.version) > 0);
    return [...newer, ...there];
  }

  /** Asks the market of an installed skill. Other markets count only if that one is no longer configured. */
  async #offersOf(name: string, from: string | null, lock: LockEntry | null): Promise<readonly Offer[]> {
    const { markets } = this.#deps;
    const wanted = this.#wanted.get(name);
    const old = lock?.source.market ?? null;
    const only = wanted?.market ?? (old !== null && markets.names.includes(old) ? old : null);
    if (wanted === undefined && markets.names.length === 0) return [];
    const { offers, problems } = await markets.ask(only, (market) => market.offers(name, this.#signal), this.#signal);
    const [first] = problems;
    if (offers.length === 0 && first !== undefined)
      throw new AppError('fetch_failed', `The market ${first.market} could not be asked for ${name}: ${first.problem}`);
    return oneMarket(name, offers, from);
  }
}

/**
 * Two markets that offer the same name need not offer the same skill. Prefers the market of the skill that needs it, and fails if that is
 * ambiguous.
 */
function oneMarket(name: string, offers: readonly Offer[], from: string | null): readonly Offer[] {
  const sources = [...new Set(offers.map(({ market }) => market ?? ''))];
  if (sources.length < 2) return offers;
  const own = offers.filter(({ market }) => market === from);
  if (own.length > 0) return own;
  throw new AppError('invalid_params', `${name} is offered by ${sources.join(' and ')}, and they need not be the same.`, {
    hint: `Say which one you mean: ${sources.map((market) => `${market}/${name}`).join(' or ')}`,
  });
}

function needsText(needs: readonly Need[]): string {
  return needs
    .map(({ name, range }) => `${name} ${range}`)
    .sort()
    .join('\n');
}

/** Parses `market/name@range`. */
export function parseWant(ref: string): Wanted {
  const [, market = null, given = '', range = '*'] = /^(?:([a-z0-9][a-z0-9-]*)\/)?([A-Za-z0-9][\w-]*)(?:@(.+))?$/.exec(ref.trim()) ?? [];
  const name = nameOfSkill(given);
  if (name === null) {
    throw new AppError(
      'invalid_params',
      `${JSON.stringify(ref.slice(0, 100))} is neither the name of a skill nor a folder or an address.`,
      { hint: 'Write NAME, MARKET/NAME, NAME@VERSION, ./FOLDER, ./ARCHIVE.zip, https://… or github:OWNER/REPO/FOLDER.' },
    );
  }
  const checked = range === 'latest' ? '*' : rangeOf(range);
  if (checked === null)
    throw new AppError('invalid_params', `${JSON.stringify(range.slice(0, 60))} is not a range of versions.`, {
      hint: 'Write 1.2.3, ^1.2 or ">=1.0.0 <2.0.0".',
    });
  return { name, range: checked, market };
}
