// Finds a subject by its name.

import { openTrayClaw } from './trayclaw.ts';
import type { OpenSubject } from './subject.ts';

export function findSubject(name: string): OpenSubject {
  if (name === 'trayclaw') return openTrayClaw;
  throw new Error(`there is no subject ${name}`);
}
