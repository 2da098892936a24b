// Compares TrayClaw with other agent libraries: same server, same code, same run. Peers that cannot be installed are skipped with a
// message.

import { ownName, type Figure } from '../figures.ts';
import { installPeer } from '../peers/peer-folder.ts';
import { peers } from '../peers/peers.ts';
import type { BenchContext } from '../section.ts';
import { measureGrowth } from './session.ts';
import { commonCases, measureCase } from './turn.ts';

interface Measured {
  readonly id: string;
  readonly label: string;
}

export async function measurePeers(context: BenchContext): Promise<Figure[]> {
  const subjects: Measured[] = [{ id: 'trayclaw', label: ownName }];
  for (const peer of peers) {
    const failure = peer.packages === null ? null : await installPeer(peer.packages);
    if (failure === null) subjects.push(peer);
    else context.say(`peers: ${peer.label} is left out: ${failure}`);
  }
  const figures: Figure[] = [];
  for (const turnCase of commonCases) {
    for (const subject of subjects) figures.push(await measureCase(context, turnCase, subject));
  }
  const growth = new Map<string, Figure[]>();
  for (const subject of subjects) {
    for (const figure of await measureGrowth(context, subject)) growth.set(figure.name, [...(growth.get(figure.name) ?? []), figure]);
  }
  // TrayClaw is measured again among its peers; a separate section name keeps the two measurements apart.
  return [...figures, ...[...growth.values()].flat()].map((figure) => ({
    ...figure,
    section: 'peers',
    name: figure.section === 'turn' ? `turn, ${figure.name}` : figure.name,
  }));
}
