// A strategy for tasks with criteria: once every criterion is met, the agent is asked for a shorter answer that still meets them, and the work
// ends when an answer is no shorter than the one before. A task names it with `strategy: { kind: custom, name: shortest, tries: 5 }`.

const shorten = 'It is done. Now give an answer that meets the same criteria in fewer words.';

const failedIn = ({ checks }) => checks.filter(({ verdict }) => verdict !== 'pass');

const shortest = {
  name: 'shortest',
  next: ({ attempts, triesLeft }) => {
    const last = attempts.at(-1);
    const failed = failedIn(last);
    if (failed.length > 0) return { again: failed.map(({ text, evidence }) => `Not met: ${text}. ${evidence}`).join('\n') };
    const before = attempts.slice(0, -1).findLast((one) => failedIn(one).length === 0);
    return triesLeft > 0 && (before === undefined || last.text.length < before.text.length) ? { again: shorten } : null;
  },
};

export const feature = { name: 'shortest', create: () => ({ strategies: [shortest] }) };
