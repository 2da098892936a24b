// The view of a review of changed files: each diff with numbered parts, and how to restore one.

import type { OpResult } from '../../../contracts/ops.ts';
import { safeForTerminal } from '../../../base/visible-text.ts';
import { describeFile } from '../file-diff.ts';
import type { ViewsOf } from '../kernel/view.ts';

type Reviewed = OpResult<'checkpoint.review'>;

export const checkpointViews: ViewsOf<'checkpoint'> = {
  'checkpoint.review': {
    params: (_, { given: { id } }) => (String(id).startsWith('trn_') ? { turnId: String(id) } : { sessionId: String(id) }),
    json: ({ files }) => files,
    show: ({ files }, { paint, program, params: { turnId, sessionId } }) => {
      if (files.length === 0) return 'No file is changed.';
      const shown = files.map((file) => describeFile(file, { verb: verbs[file.change], numbered: true }, paint) + seen(file));
      const undo = `${program} undo ${turnId ?? sessionId ?? ''}`;
      return [...shown, `To put all of it back: ${undo}\nOr one file, or parts of it: ${undo} --file PATH --part 1 --seen VERSION`].join(
        '\n\n',
      );
    },
  },
};

const verbs = { created: 'made', changed: 'changed', removed: 'removed', none: 'unchanged', unknown: 'changed' } as const;

function seen({ refused, version }: Reviewed['files'][number]): string {
  return refused === null ? `\nversion ${version}` : `\nIt cannot be put back: ${safeForTerminal(refused)}`;
}
