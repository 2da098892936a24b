// Chooses versions of skills so that every requirement is met and no skill depends on itself. Explains a failure by the two chains that
// conflict. Pure: the caller supplies the versions and the comparison.

export interface Need {
  readonly name: string;
  /** A semver range. */
  readonly range: string;
}

export interface Choosable {
  readonly name: string;
  readonly version: string;
  readonly requires: readonly Need[];
}

export interface Universe<C extends Choosable> {
  /** All candidates of a name, preferred first. */
  candidates(name: string): readonly C[];
  fits(version: string, range: string): boolean;
}

export type Resolved<C extends Choosable> =
  /** `chosen` is in installation order. `chains` maps each skill to the chain that leads to it from a requested one. */
  | { readonly ok: true; readonly chosen: readonly C[]; readonly chains: ReadonlyMap<string, readonly string[]> }
  | { readonly ok: false; readonly problem: string };

interface Edge extends Need {
  /** The chain of names that leads to this requirement; empty for a skill that a person requested. */
  readonly chain: readonly string[];
}

interface Taken<C extends Choosable> {
  readonly candidate: C;
  readonly edge: Edge;
}

/** The maximum number of steps. A set of skills that needs more is too entangled to be sensible. */
const STEPS_MAX = 200_000;

export function resolve<C extends Choosable>(wanted: readonly Need[], universe: Universe<C>): Resolved<C> {
  const search = new Search(universe);
  const edges = wanted.map((need): Edge => ({ ...need, chain: [] }));
  if (!search.settle(edges)) return { ok: false, problem: search.problem };
  return { ok: true, ...search.result(wanted) };
}

class Search<C extends Choosable> {
  readonly #universe: Universe<C>;
  readonly #taken = new Map<string, Taken<C>>();
  #steps = 0;
  /** The first conflict is reported, because later ones follow from less likely choices. */
  #problem: string | null = null;

  constructor(universe: Universe<C>) {
    this.#universe = universe;
  }

  get problem(): string {
    return this.#problem ?? 'These skills do not fit together.';
  }

  /** Settles the first requirement, then the others. Backtracks if necessary. */
  settle(edges: readonly Edge[]): boolean {
    const [edge, ...others] = edges;
    if (edge === undefined) return true;
    this.#steps += 1;
    if (this.#steps > STEPS_MAX) {
      this.#problem = 'These skills need each other in too many ways to find versions that fit.';
      return false;
    }
    const taken = this.#taken.get(edge.name);
    if (taken !== undefined) return this.#agrees(taken, edge) && this.settle(others);
    const all = this.#universe.candidates(edge.name);
    const fitting = all.filter(({ version }) => this.#universe.fits(version, edge.range));
    if (fitting.length === 0) return this.#fail(missing(edge, all));
    return fitting.some((candidate) => this.#try(candidate, edge, others));
  }

  #try(candidate: C, edge: Edge, others: readonly Edge[]): boolean {
    this.#taken.set(edge.name, { candidate, edge });
    const chain = [...edge.chain, `${candidate.name} ${candidate.version}`];
    const further = candidate.requires.map((need): Edge => ({ ...need, chain }));
    const isSettled =
      candidate.requires.every((need) => this.#isAcyclic(candidate.name, need.name, chain)) && this.settle([...further, ...others]);
    if (!isSettled) this.#taken.delete(edge.name);
    return isSettled;
  }

  #agrees({ candidate, edge: first }: Taken<C>, edge: Edge): boolean {
    const from = nameOf(edge.chain.at(-1) ?? '');
    if (from !== '' && !this.#isAcyclic(from, edge.name, edge.chain)) return false;
    if (this.#universe.fits(candidate.version, edge.range)) return true;
    return this.#fail(
      `No version of ${edge.name} fits both: ${chainWords(first)} (which took ${candidate.version}), and ${chainWords(edge)}.`,
    );
  }

  /** Fails if the new dependency would make a skill depend on itself, directly or indirectly. */
  #isAcyclic(from: string, to: string, chain: readonly string[]): boolean {
    const way = this.#wayBetween(to, from, new Set());
    if (way === null) return true;
    const names = [...way, to];
    return this.#fail(`Skills need each other in a circle: ${names.join(' → ')} (by way of ${chain.join(' → ')}).`);
  }

  #wayBetween(from: string, to: string, seen: Set<string>): readonly string[] | null {
    if (from === to) return [from];
    if (seen.has(from)) return null;
    seen.add(from);
    for (const { name } of this.#taken.get(from)?.candidate.requires ?? []) {
      const way = this.#wayBetween(name, to, seen);
      if (way !== null) return [from, ...way];
    }
    return null;
  }

  #fail(problem: string): false {
    this.#problem ??= problem;
    return false;
  }

  result(wanted: readonly Need[]): { chosen: readonly C[]; chains: ReadonlyMap<string, readonly string[]> } {
    const chosen: C[] = [];
    const seen = new Set<string>();
    const visit = (name: string): void => {
      const one = this.#taken.get(name)?.candidate;
      if (one === undefined || seen.has(name)) return;
      seen.add(name);
      for (const need of one.requires) visit(need.name);
      chosen.push(one);
    };
    for (const { name } of wanted) visit(name);
    return { chosen, chains: new Map([...this.#taken].map(([name, { edge }]) => [name, edge.chain] as const)) };
  }
}

function nameOf(step: string): string {
  return step.split(' ')[0] ?? '';
}

function chainWords({ chain, range, name }: Edge): string {
  return chain.length === 0 ? `you ask for ${name} ${range}` : `${chain.join(' → ')} needs ${name} ${range}`;
}

function missing(edge: Edge, all: readonly Choosable[]): string {
  const what = `${edge.name}${edge.range === '*' ? '' : ` ${edge.range}`}`;
  const who = edge.chain.length === 0 ? '' : `, which ${edge.chain.join(' → ')} needs`;
  const others =
    all.length === 0
      ? ''
      : ` There is ${all
          .slice(0, 8)
          .map(({ version }) => version)
          .join(', ')}.`;
  return `There is no ${what}${who}.${others}`;
}
