// The command line of the benchmark: sections by name, and a few switches.

import { parseArgs } from 'node:util';

export const sectionNames = [
  'turn',
  'failover',
  'session',
  'append',
  'pack',
  'start',
  'desktop',
  'window',
  'panic',
  'policy',
  'sandbox',
  'recall',
  'door',
  'work',
  'mcp',
  'browser',
  'skills',
  'scale',
  'peers',
] as const;
export type SectionName = (typeof sectionNames)[number];

export interface BenchOptions {
  readonly sections: readonly SectionName[];
  readonly jsonFile: string | null;
  /** The folder for CPU profiles of the turns; their summary is printed. */
  readonly profileFolder: string | null;
  readonly usesSources: boolean;
  /** A fraction of the usual number of repetitions, for a quick look. Figures of a short run must not be compared. */
  readonly scale: number;
}

export const usage = `usage: npm run bench -- [SECTION…] [--peers] [--json FILE] [--profile FOLDER] [--sources] [--scale N]
sections: ${sectionNames.join(', ')}; all but peers when none is named. peers installs other agent libraries below .bench/.`;

/** Throws an error written for the person if an argument is unknown. */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      peers: { type: 'boolean', default: false },
      json: { type: 'string' },
      profile: { type: 'string' },
      sources: { type: 'boolean', default: false },
      scale: { type: 'string', default: '1' },
    },
  });
  const named = positionals.map(sectionNamed);
  const wanted = named.length === 0 ? sectionNames.filter((name) => name !== 'peers') : named;
  const scale = Number(values.scale);
  if (!(scale > 0 && scale <= 10)) throw new Error('--scale is a number above 0, at most 10');
  return {
    sections: sectionNames.filter((name) => wanted.includes(name) || (name === 'peers' && values.peers)),
    jsonFile: values.json ?? null,
    profileFolder: values.profile ?? null,
    usesSources: values.sources,
    scale,
  };
}

function sectionNamed(name: string): SectionName {
  const known = sectionNames.find((section) => section === name);
  if (known === undefined) throw new Error(`there is no section ${name}`);
  return known;
}
