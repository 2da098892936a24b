// How runs of evals are shown. The texts come from the feature, so that every door says the same.

import type { OpResult } from '../../../contracts/ops.ts';
import { exitCodes } from '../exit-code.ts';
import type { ViewsOf } from '../kernel/view.ts';
import { table } from '../table.ts';

export const evalViews: ViewsOf<'eval'> = {
  'eval.run': {
    json: ({ exported: _shown, ...run }) => run,
    show: ({ exported }) => exported,
    exitCode: ({ failed, errors }) => (failed + errors === 0 ? exitCodes.done : exitCodes.failed),
  },
  'eval.get': {
    json: ({ exported, ...run }, { format }) => (format === undefined ? run : { ...run, exported }),
    show: ({ exported }) => exported,
  },
  'eval.compare': { show: describeComparison, exitCode: ({ worse }) => (worse.length === 0 ? exitCodes.done : exitCodes.failed) },
};

function describeComparison({ better, worse, same, onlyOne, figures }: OpResult<'eval.compare'>): string {
  const shown = (value: number | null): string => (value === null ? 'unknown' : String(Math.round(value * 10_000) / 10_000));
  return [
    ...worse.map((name) => `worse   ${name}`),
    ...better.map((name) => `better  ${name}`),
    `${worse.length} worse, ${better.length} better, ${same} the same, ${onlyOne.length} in one run only`,
    table(
      ['FIGURE', 'A', 'B'],
      figures.map(({ figure, a, b }) => [figure, shown(a), shown(b)]),
      '',
    ),
  ].join('\n');
}
