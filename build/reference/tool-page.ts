// docs/reference/tools.md: the agent's tools, with the descriptions the model receives. Starts TrayClaw on a folder that is removed
// afterwards.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTrayClaw, type Channel, type ConfigInput, type OpResult } from '../../core/index.ts';
import { createMachineTools } from '../../core/features/machine/machine.ts';
import { code, fieldWords, page } from './markdown.ts';

type Listed = OpResult<'tool.list'>;

/** Settings that enable every conditional tool. */
const config: ConfigInput = {
  models: { default: 'demo/offline' },
  knowledge: { sources: { notes: { kind: 'inline', text: 'A note.' } } },
  web: { search: { provider: 'searxng', baseUrl: 'http://127.0.0.1:9' } },
  agents: { scout: { description: 'an example' } },
  // Any existing program works here: the page must be the same on a machine without a browser.
  browser: { executable: process.execPath },
};

/**
 * Tools that exist only on machines with certain programs. They are left out everywhere, so that the page does not depend on the machine.
 */
export const machineTools = createMachineTools(() => Promise.reject(new Error('No machine is touched here.')), {
  platform: 'linux',
  environment: {},
  find: () => null,
})
  .map(({ name }) => name)
  .toSorted();

/** A channel without any messages. */
const quietChannel: Channel = {
  name: 'quiet',
  identities: { isOwner: () => false },
  rules: { groups: 'off', allowFrom: [] },
  join: () => ({ dispose: () => undefined }),
};

export async function toolPage(): Promise<string> {
  const { tools } = await everyTool();
  const body = [
    'The description of a tool is what the model reads. The class is the one the gate judges by unless the arguments say otherwise; see',
    '[approvals](../guide/approvals.md). Some tools are there only when they can work: `web_search` needs `web.search`, `knowledge_search`',
    'needs a document, `message` needs a channel, and the tools that call agents need an agent to call. Not listed here, because they need a screen,',
    `or a Linux machine with systemd or such a bus: ${machineTools.map(code).join(', ')}; see [remote machines](../guide/remote.md).`,
    '',
    ...tools.flatMap((tool) => [
      `## ${code(tool.name)}`,
      '',
      `Class: ${code(tool.class)}`,
      '',
      tool.description.trim(),
      '',
      `Arguments: ${fieldWords(tool.schema)}`,
      '',
    ]),
  ];
  return page({ title: 'Tools', source: 'the list of tools (`tool.list`)', body });
}

/** Every tool, with all conditions for them met. */
export async function everyTool(): Promise<{ tools: Listed['tools']; shows: NonNullable<Listed['shows']> }> {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-docs-'));
  const claw = await createTrayClaw({ home, config, channels: [quietChannel] });
  try {
    const { tools, shows = {} } = await claw.op('tool.list', {});
    const listed = tools.filter(({ name }) => !machineTools.includes(name));
    return { tools: listed.toSorted((one, other) => (one.name < other.name ? -1 : 1)), shows };
  } finally {
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  }
}
