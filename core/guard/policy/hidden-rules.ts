// Finds rules of config.yaml that can never apply, because an earlier rule matches every call that they match. In case of doubt a rule counts
// as one that can apply. Pure.

import type { PolicyRule } from '../../contracts/config.ts';
import { namesIt } from './config-rules.ts';

interface HiddenRule {
  /** Both counted from 1. */
  readonly number: number;
  readonly by: number;
}

export function hiddenRules(rules: readonly PolicyRule[]): HiddenRule[] {
  return rules.flatMap((rule, at) => {
    const by = rules.slice(0, at).findIndex((earlier) => covers(earlier, rule));
    return by < 0 ? [] : [{ number: at + 1, by: by + 1 }];
  });
}

type When = PolicyRule['when'];

/** Returns whether the earlier rule matches whatever the later one matches. */
function covers(earlier: PolicyRule, later: PolicyRule): boolean {
  const areAlike = (earlier.then === 'allow') === (later.then === 'allow');
  // A rule that allows needs every part of a call, one that denies or asks only one of them.
  const isWider = areAlike || earlier.then !== 'allow';
  // A name may itself be a beginning that ends with `*`.
  const has = (key: keyof When, within: (list: readonly string[], text: string) => boolean, counts: boolean): boolean => {
    const wide: readonly string[] | undefined = earlier.when[key];
    const narrow: readonly string[] | undefined = later.when[key];
    return wide === undefined || (counts && narrow?.every((text) => within(wide, text)) === true);
  };
  const isListed = (list: readonly string[], text: string): boolean => list.includes(text);
  // A rule that allows hosts or paths, and names no commands, allows no command.
  const allowsNoCommand = earlier.then === 'allow' && earlier.when.commands === undefined;
  const needsNoCommand = (earlier.when.hosts ?? earlier.when.paths) === undefined || !allowsNoCommand || later.when.commands === undefined;
  return (
    needsNoCommand &&
    has('tools', namesIt, true) &&
    has('agents', namesIt, true) &&
    has('channels', namesIt, true) &&
    has('classes', isListed, isWider) &&
    has('hosts', isListed, isWider) &&
    has('paths', isListed, isWider) &&
    has('commands', isListed, areAlike)
  );
}
