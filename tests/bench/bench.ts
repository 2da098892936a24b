// The benchmark: runs the requested sections one after the other on the real program and prints one table. Every comparison is made in one
// run on one machine, because absolute times of different machines cannot be compared.

import { existsSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatTable, judge, type Figure } from './figures.ts';
import { startModelServer } from './model-server/model-server.ts';
import { parseOptions, usage, type BenchOptions, type SectionName } from './options.ts';
import { printProfiles } from './profile-summary.ts';
import type { BenchContext, Section } from './section.ts';
import { measureAppends } from './sections/append.ts';
import { measureBrowser } from './sections/browser.ts';
import { measureDesktop } from './sections/desktop.ts';
import { measureDoor } from './sections/door.ts';
import { measureWork } from './sections/work.ts';
import { measureFailover } from './sections/failover.ts';
import { measureMcp } from './sections/mcp.ts';
import { measurePacks } from './sections/pack.ts';
import { measurePanic } from './sections/panic.ts';
import { measurePeers } from './sections/peers.ts';
import { measurePolicy } from './sections/policy.ts';
import { measureRecall } from './sections/recall.ts';
import { measureSandbox } from './sections/sandbox.ts';
import { measureScale } from './sections/scale.ts';
import { measureSession } from './sections/session.ts';
import { measureSkills } from './sections/skills.ts';
import { measureStart } from './sections/start.ts';
import { measureTurns } from './sections/turn.ts';
import { measureWindow } from './sections/window.ts';

const sections: Readonly<Record<SectionName, Section>> = {
  turn: measureTurns,
  failover: measureFailover,
  session: measureSession,
  append: measureAppends,
  pack: measurePacks,
  start: measureStart,
  desktop: measureDesktop,
  panic: measurePanic,
  policy: measurePolicy,
  sandbox: measureSandbox,
  recall: measureRecall,
  door: measureDoor,
  work: measureWork,
  mcp: measureMcp,
  browser: measureBrowser,
  skills: measureSkills,
  scale: measureScale,
  window: measureWindow,
  peers: measurePeers,
};

const projectRoot = fileURLToPath(new URL('../../', import.meta.url));
const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

await main();

async function main(): Promise<void> {
  let options: BenchOptions;
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (cause) {
    say(`bench: ${cause instanceof Error ? cause.message : String(cause)}\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const figures = await runSections(options);
  const about = describeRun(options);
  process.stdout.write(`${about.line}\n\n${formatTable(figures)}\n`);
  if (options.profileFolder !== null) process.stdout.write(`\n${printProfiles(options.profileFolder)}\n`);
  if (options.jsonFile !== null) {
    const judged = figures.map((figure) => ({ ...figure, ...judge(figure) }));
    writeFileSync(options.jsonFile, `${JSON.stringify({ ...about, figures: judged }, null, 2)}\n`);
  }
}

async function runSections(options: BenchOptions): Promise<Figure[]> {
  const server = await startModelServer();
  const context: BenchContext = {
    projectRoot,
    libraryFile: libraryFile(options),
    cliFile: existsSync(join(projectRoot, 'dist/cli.js')) ? join(projectRoot, 'dist/cli.js') : null,
    origin: server.origin,
    profileFolder: options.profileFolder,
    count: (usual) => Math.max(1, Math.round(usual * options.scale)),
    say,
  };
  const figures: Figure[] = [];
  try {
    for (const name of options.sections) {
      try {
        figures.push(...(await sections[name](context)));
      } catch (cause) {
        // A failed section does not discard the results of the others.
        say(`bench: the section ${name} failed: ${cause instanceof Error ? cause.message : String(cause)}`);
        process.exitCode = 1;
      }
    }
  } finally {
    await server.close();
  }
  return figures;
}

function libraryFile(options: BenchOptions): string {
  const bundle = join(projectRoot, 'dist/index.js');
  return !options.usesSources && existsSync(bundle) ? bundle : join(projectRoot, 'core/index.ts');
}

function describeRun(options: BenchOptions): Record<string, unknown> & { readonly line: string } {
  const code = libraryFile(options).endsWith('.ts') ? 'sources (core/index.ts)' : 'bundle (dist/index.js)';
  const [load] = loadavg();
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, load ${load?.toFixed(1) ?? '?'}`;
  return {
    line: `TrayClaw bench: ${code}, Node ${process.versions.node}, ${process.platform}, ${machine}`,
    at: new Date().toISOString(),
    code,
    node: process.versions.node,
    platform: process.platform,
    machine,
    scale: options.scale,
  };
}
