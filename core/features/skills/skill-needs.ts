// Compares a skill's needs with what is available: platform, programs, environment variables, settings. Only checks; installs nothing.

import { delimiter, join } from 'node:path';
import type { SkillRequirement } from '../../contracts/features/skills.ts';
import { isExecutable } from '../../store/home/home.ts';
import type { SkillHead } from './skill-head.ts';

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The current configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  hasProgram(name: string): boolean;
}

/** Checks only the needs that the skill names. The caller checks its tools and skills. */
export function checkNeeds({ needs }: SkillHead, around: Surroundings): SkillRequirement[] {
  const { os, bins, anyBins, env, config } = needs;
  const install = new Map(needs.install);
  const requirement = (kind: SkillRequirement['kind'], name: string, isMet: boolean, hint: string | null = null): SkillRequirement => ({
    kind,
    name,
    isMet,
    hint,
  });
  return [
    ...(os.length === 0 ? [] : [requirement('os', os.join(' '), os.includes(around.platform))]),
    ...bins.map((name) => requirement('bin', name, around.hasProgram(name), install.get(name) ?? null)),
    ...(anyBins.length === 0 ? [] : [requirement('any-bin', anyBins.join(' '), anyBins.some((name) => around.hasProgram(name)), firstHint(anyBins, install))]), // prettier-ignore
    ...env.map((name) => requirement('env', name, (around.environment[name] ?? '') !== '')),
    ...config.map((name) => requirement('config', name, isTruthyAt(around.config, name))),
  ];
}

/** `always` ignores every missing requirement except the platform. */
export function areMet(requirements: readonly SkillRequirement[], { needs }: SkillHead): boolean {
  return requirements.every(({ kind, isMet }) => isMet || (needs.always && kind !== 'os'));
}

/** Searches the PATH once per name and caches the result until `forget`. */
export class ProgramFinder {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #platform: NodeJS.Platform;
  readonly #known = new Map<string, boolean>();

  constructor(environment: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform) {
    this.#environment = environment;
    this.#platform = platform;
  }

  has(name: string): boolean {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const found = this.#find(name);
    this.#known.set(name, found);
    return found;
  }

  /** Clears the cache, because a program may have been installed. */
  forget(): void {
    this.#known.clear();
  }

  #find(name: string): boolean {
    // Only a name is accepted, not a path: a skill must not decide where programs are searched.
    if (!/^[\w.+-]{1,100}$/.test(name)) return false;
    const folders = (this.#environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
    const endings = this.#platform === 'win32' ? ['', ...(this.#environment['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : [''];
    return folders.some((folder) => endings.some((ending) => isExecutable(join(folder, name + ending))));
  }
}

function isTruthyAt(config: Readonly<Record<string, unknown>>, path: string): boolean {
  let value: unknown = config;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return Boolean(value);
}

function firstHint(names: readonly string[], install: ReadonlyMap<string, string>): string | null {
  return names.map((name) => install.get(name)).find((hint) => hint !== undefined) ?? null;
}
