// Checks a configuration against the schema. Names wrong or unknown keys, and warns of settings that have no effect.

import { isPlainObject } from '../../base/json.ts';
import { mainAgentId } from '../../contracts/agents.ts';
import { configSchema, type Config } from '../../contracts/config.ts';
import { namesIn, type FoundName } from '../../contracts/named-things.ts';
import { isRouteRef } from '../../contracts/route-name.ts';
import { parseGiven } from '../../contracts/parse-given.ts';
import { AppError } from '../../contracts/errors.ts';

export interface LoadedConfig {
  readonly config: Config;
  readonly path: string;
  readonly warnings: readonly string[];
}

/** Checks a whole configuration. `source` is its file, or null for one that was passed in. */
export function parseConfig(source: string | null, raw: unknown, path = source ?? ''): LoadedConfig {
  const says = `${source ?? 'The configuration'} is not valid`;
  const about = source === null ? { whole: 'the value', hint: 'Correct the config that was passed in.' } : { whole: 'the file' };
  const config = parseGiven(configSchema, withPluginFiles(raw), { says, code: 'invalid_config', ...about });
  const names = namesIn(configSchema, config);
  const strangers = unknownAgents(config, names);
  if (strangers.length > 0) {
    const issues = strangers.map(({ place, name }) => `${place}: there is no agent "${name}"`);
    const hint = `There is: ${agentIdsOf(config).join(', ')}. Write the name of one of them, or add it under agents.`;
    throw new AppError('invalid_config', `${says}: ${issues.join('; ')}.`, { data: { issues }, hint });
  }
  const twice = Object.keys(config.a2a.peers).filter((name) => name === mainAgentId || Object.hasOwn(config.agents, name));
  if (twice.length > 0) {
    const issues = twice.map((name) => `a2a.peers.${name}: there is an agent "${name}" on this machine`);
    throw new AppError('invalid_config', `${says}: ${issues.join('; ')}.`, { data: { issues }, hint: 'Choose another name for the peer.' });
  }
  return { config, path, warnings: warningsOf(config, names) };
}

/** `plugins: [a.mjs]` is short for `plugins: { files: [a.mjs] }`. */
function withPluginFiles(raw: unknown): unknown {
  return isPlainObject(raw) && Array.isArray(raw['plugins']) ? { ...raw, plugins: { files: raw['plugins'] as unknown[] } } : raw;
}

/** Includes agents on other machines, because these can be called too. */
const agentIdsOf = ({ agents, a2a }: Config): string[] => [...new Set([mainAgentId, ...Object.keys(agents), ...Object.keys(a2a.peers)])];

/**
 * Returns the unknown agents that a setting refers to. Otherwise the error would appear only when a message arrives or work is delegated.
 */
function unknownAgents(config: Config, names: readonly FoundName[]): readonly FoundName[] {
  const known = new Set(agentIdsOf(config));
  return names.filter(({ kind, name }) => kind === 'agent' && !known.has(name));
}

function warningsOf(config: Config, names: readonly FoundName[]): string[] {
  const warnings = Object.entries(config.providers).flatMap(([name, provider]) =>
    'via' in provider && provider.via !== undefined
      ? [`providers.${name}.via has no effect any more: TrayClaw speaks the format with its own adapter. Remove the line.`]
      : [],
  );
  for (const { kind, name, place } of names) {
    const provider = name.slice(0, name.indexOf('/'));
    if (kind !== 'model' || isRouteRef(name) || Object.hasOwn(config.providers, provider) || wellKnown.has(provider)) continue;
    warnings.push(`${place} names the provider "${provider}", which is not under providers.`);
  }
  const agents = new Set(agentIdsOf(config));
  for (const [at, { when }] of config.policy.rules.entries()) {
    for (const agent of when.agents ?? []) {
      if (!agent.endsWith('*') && !agents.has(agent)) warnings.push(`policy.rules, rule ${at + 1}: there is no agent "${agent}".`);
    }
  }
  return warnings;
}

/** Providers that need no entry: agents on other machines, the demo, and local servers that are found automatically. */
const wellKnown: ReadonlySet<string> = new Set(['a2a', 'demo', 'ollama', 'lmstudio', 'llama-server', 'llamacpp']);
