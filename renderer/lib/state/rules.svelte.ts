// Rules that a person pinned, for a session or an agent. The host has them; this says when to reload them, and keeps a draft rule.

import type { PinnedRule } from '../../../core/contracts/context-ops.ts';
import type { AnyEvent } from '../../../core/contracts/events.ts';
import { ruleTextMax } from '../../../core/contracts/rule-form.ts';
import type { OpClient } from '../client.ts';

export type RuleTarget = { readonly sessionId: string } | { readonly agentId: string };

const changing: ReadonlySet<string> = new Set(['rule.pinned', 'rule.unpinned', 'session.configured']);

export class Rules {
  /** Increases whenever the rules may have changed. */
  revision = $state(0);
  /** A text that is too long to be pinned, until the person has shortened it. */
  draft = $state('');
  readonly #client: OpClient;

  constructor(client: OpClient) {
    this.#client = client;
  }

  apply({ type }: AnyEvent): void {
    if (changing.has(type)) this.revision += 1;
  }

  /** The rules of a session, or of an agent in all its sessions; oldest first. */
  async list(target: RuleTarget): Promise<readonly PinnedRule[]> {
    if ('sessionId' in target) return (await this.#client.op('rule.list', target)).rules;
    const { rules } = await this.#client.op('rule.list', {});
    return rules.filter(({ scope, owner }) => scope === 'agent' && owner === target.agentId);
  }

  pin(text: string, target: RuleTarget): Promise<PinnedRule> {
    return this.#client.op('rule.pin', { text, ...target });
  }

  /** Replaces the text of a rule; it becomes the newest. */
  change(rule: PinnedRule, text: string): Promise<PinnedRule> {
    return this.#client.op('rule.pin', { text, ...targetOf(rule), replaces: rule.ruleId });
  }

  async unpin(rule: PinnedRule): Promise<void> {
    const where = rule.scope === 'session' ? { sessionId: rule.owner } : {};
    await this.#client.op('rule.unpin', { ruleId: rule.ruleId, ...where });
  }

  /** Pins an unpinned rule again; it becomes the newest. */
  async restore(rule: PinnedRule): Promise<void> {
    await this.pin(rule.text, targetOf(rule));
  }
}

export function targetOf({ scope, owner }: PinnedRule): RuleTarget {
  return scope === 'session' ? { sessionId: owner } : { agentId: owner };
}

export function fitsRule(text: string): boolean {
  const { length } = text.trim();
  return length > 0 && length <= ruleTextMax;
}
