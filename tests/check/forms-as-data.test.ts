// In the built program the words and commands of the operations are data: help and completion load no schema for them.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formsAsData } from '../../build/vite.node.ts';
import { familyHelp, opForms } from '../../core/contracts/op-forms.ts';
import { projectRoot } from '../docs/documents.ts';

test('the built forms equal those of the sources, as plain data', async () => {
  const { load } = formsAsData(projectRoot);
  const text = (await load(join(projectRoot, 'core/contracts/op-forms.ts'))) ?? '';
  expect(text).toMatch(/^export const opForms = \{/);
  const built = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as Record<string, unknown>;
  expect({ ...built }).toEqual({ opForms, familyHelp });
  expect(await load(join(projectRoot, 'core/contracts/ops.ts'))).toBeNull();
});
