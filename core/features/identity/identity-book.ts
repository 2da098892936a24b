// The identity of each agent: capsules with all their versions, and their text for the model. The recorded versions are the source of
// truth. The settings of an agent in config.yaml are separate.

import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../contracts/errors.ts';
import { type AnyDraft, systemSessionId } from '../../contracts/events.ts';
import { capsuleSchema, type Capsule, type CapsuleVersion, type RiskPosture } from '../../contracts/features/identity.ts';
import type { OpParsed } from '../../contracts/ops.ts';
import { diffOfTexts, type DiffLine } from '../../base/diff-lines.ts';
import type { IdentityRows } from './rows.ts';

export interface IdentityDeps {
  readonly rows: IdentityRows;
  readonly clock: Clock;
  readonly prompts: { text(ref: string): string | null };
  record(sessionId: string, drafts: readonly AnyDraft[]): void;
  /** Fails with not_found. */
  assertAgent(agentId: string): void;
}

/** Fields that are left out keep their value; an empty string removes the value. */
type CapsuleWish = Omit<OpParsed<'identity.set'>, 'agentId' | 'note' | 'basedOn'>;

export interface Change {
  readonly by: string;
  readonly note?: string | undefined;
  readonly basedOn?: number | undefined;
}

export class IdentityBook {
  readonly #deps: IdentityDeps;

  constructor(deps: IdentityDeps) {
    this.#deps = deps;
  }

  /** Returns the newest version by default. Version 0 is the empty capsule of an agent without an identity. Fails with not_found. */
  get(agentId: string, version?: number): CapsuleVersion {
    this.#deps.assertAgent(agentId);
    const found = version === undefined ? this.#deps.rows.newest(agentId) : this.#deps.rows.one(agentId, version);
    if (found !== null) return found;
    if (version === undefined || version === 0) return nobody(agentId);
    throw new AppError('not_found', `The agent ${agentId} has no version ${version} of its identity.`, {
      hint: `See: trayclaw identity versions --agent ${agentId}`,
    });
  }

  versions(agentId: string, limit: number): CapsuleVersion[] {
    this.#deps.assertAgent(agentId);
    return this.#deps.rows.versions(agentId, limit);
  }

  /** Returns the newest version if nothing changes. Fails with conflict if the change is based on an older version. */
  set(agentId: string, wish: CapsuleWish, change: Change): CapsuleVersion {
    const before = this.get(agentId);
    if (change.basedOn !== undefined && change.basedOn !== before.version) {
      throw new AppError('conflict', `The identity of ${agentId} is at version ${before.version} by now, not ${change.basedOn}.`, {
        hint: 'Read the newest version and change that one.',
      });
    }
    const capsule = merge(before.capsule, wish);
    this.#assertPrompts(capsule, before.capsule);
    return this.#append(before, capsule, { ...change, reverts: null });
  }

  /** Makes an earlier version the newest. The versions between are kept. */
  revert(agentId: string, version: number, by: string): CapsuleVersion {
    return this.#append(this.get(agentId), this.get(agentId, version).capsule, { by, reverts: version });
  }

  diff(agentId: string, from?: number, to?: number): { from: number; to: number; lines: DiffLine[] } {
    const newer = this.get(agentId, to);
    const older = this.get(agentId, from ?? Math.max(0, newer.version - 1));
    return { from: older.version, to: newer.version, lines: diffOfTexts(this.textOf(older.capsule), this.textOf(newer.capsule)) };
  }

  /** The text for the model; empty for an empty capsule. */
  textOf(capsule: Capsule): string {
    const texts = capsule.prompts.map((ref) => this.#deps.prompts.text(ref)).filter((text) => text !== null);
    return capsuleText(capsule, texts);
  }

  textOfAgent(agentId: string): string {
    return this.textOf(this.#deps.rows.newest(agentId)?.capsule ?? nobody(agentId).capsule);
  }

  /** True for an agent that must not change anything. The gate then restricts it to reading. */
  isReadOnly(agentId: string): boolean {
    return this.#deps.rows.newest(agentId)?.capsule.risk === 'read-only';
  }

  #append(
    before: CapsuleVersion,
    capsule: Capsule,
    { by, note, reverts }: Omit<Change, 'basedOn'> & { readonly reverts: number | null },
  ): CapsuleVersion {
    if (JSON.stringify(capsule) === JSON.stringify(before.capsule)) return before;
    const body = { agentId: before.agentId, version: before.version + 1, capsule, by, note: note ?? null, reverts };
    this.#deps.record(systemSessionId, [{ type: 'identity.changed', body }]);
    return { ...body, atMs: this.#deps.clock.nowMs() };
  }

  /** A newly named prompt must exist. A prompt that was already named may be missing; the text then omits it. */
  #assertPrompts(capsule: Capsule, before: Capsule): void {
    const missing = capsule.prompts.find((ref) => !before.prompts.includes(ref) && this.#deps.prompts.text(ref) === null);
    if (missing === undefined) return;
    throw new AppError('not_found', `There is no prompt ${missing}.`, {
      hint: 'Write it with: trayclaw prompts set NAME, or see what there is with: trayclaw prompts list',
    });
  }
}

function merge(before: Capsule, wish: CapsuleWish): Capsule {
  const { constraints = before.constraints, risk = before.risk, prompts = before.prompts } = wish;
  const role = wish.role ?? before.role ?? '';
  const style = wish.style ?? before.style ?? '';
  return capsuleSchema.parse({
    ...(role === '' ? {} : { role }),
    ...(style === '' ? {} : { style }),
    constraints: [...constraints],
    risk,
    prompts: [...prompts],
  });
}

function nobody(agentId: string): CapsuleVersion {
  return { agentId, version: 0, capsule: capsuleSchema.parse({}), atMs: 0, by: '', note: null, reverts: null };
}

const postures: Readonly<Record<RiskPosture, string>> = {
  balanced: '',
  careful: 'Before you change anything, say in one sentence what you are about to change and what could go wrong. When in doubt, ask.',
  'read-only': 'You only look and report. You change nothing, send nothing and start nothing; say what should be done instead.',
};

/** Empty for an empty capsule. Deterministic, so that the prompt prefix stays cached. */
function capsuleText(capsule: Capsule, promptTexts: readonly string[]): string {
  const { role, style, constraints, risk } = capsule;
  return [
    role ?? '',
    style === undefined ? '' : `How you speak: ${style}`,
    constraints.length === 0 ? '' : ['These hold always:', ...constraints.map((one) => `- ${one}`)].join('\n'),
    postures[risk],
    ...promptTexts,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}
