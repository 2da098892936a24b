// Pins, changes and unpins rules, each with an undo instead of a confirmation.

import type { PinnedRule } from '../../core/contracts/context-ops.ts';
import { oneLine } from './format.ts';
import type { Words } from './i18n/words.ts';
import type { App } from './state/app.svelte.ts';
import type { RuleTarget } from './state/rules.svelte.ts';

export interface RuleDeed {
  readonly app: App;
  readonly words: Words['rules'];
}

const shownChars = 60;

export function pinRule(text: string, target: RuleTarget, { app, words }: RuleDeed): Promise<boolean> {
  return app.attempt(async () => {
    const rule = await app.rules.pin(text.trim(), target);
    app.notices.offerUndo(words.pinned(oneLine(rule.text, shownChars)), () => app.rules.unpin(rule));
  });
}

export function unpinRule(rule: PinnedRule, { app, words }: RuleDeed): Promise<boolean> {
  return app.attempt(async () => {
    await app.rules.unpin(rule);
    app.notices.offerUndo(words.removed(oneLine(rule.text, shownChars)), () => app.rules.restore(rule));
  });
}

export function changeRule(rule: PinnedRule, text: string, { app, words }: RuleDeed): Promise<boolean> {
  return app.attempt(async () => {
    const changed = await app.rules.change(rule, text);
    app.notices.offerUndo(words.changedTo(oneLine(changed.text, shownChars)), () => app.rules.change(changed, rule.text));
  });
}
