// `check-layers.mjs [ROOT]`: prints violations of the layer rules.

import { resolve } from 'node:path';
import { projectRoot } from './files.mjs';
import { findLayerProblems } from './layer-problems.ts';

const { modules, problems } = await findLayerProblems(resolve(process.argv[2] ?? projectRoot));
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${modules} modules, ${problems.length} problems\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
