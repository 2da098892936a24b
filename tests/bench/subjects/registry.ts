// Finds a subject by its name.

import { peers } from '../peers/peers.ts';
import type { OpenSubject } from './subject.ts';
import { openTrayClaw } from './trayclaw.ts';

export function findSubject(id: string): OpenSubject {
  if (id === 'trayclaw') return openTrayClaw;
  const peer = peers.find((known) => known.id === id);
  if (peer === undefined) throw new Error(`there is no subject ${id}`);
  return peer.open;
}
