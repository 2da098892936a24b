// Checks a configuration against the schema. Names wrong or unknown keys, and warns of settings that have no effect.

import { mainAgentId } from '../../contracts/agents.ts';
import { configSchema, type Config } from '../../contracts/config.ts';
import { parseGiven } from '../../contracts/parse-given.ts';
import { AppError } from '../../contracts/errors.ts';

export interface LoadedConfig {
  readonly config: Config;
  readonly path: string;
  readonly warnings: readonly string[];
}

/** Checks a whole configuration. `source` is its file, or null for one that was passed in. */
export function parseConfig(source: string | null, raw: unknown, path = source ?? ''): LoadedConfig {
  const says = `${source ?? 'The configuration'} does not fit`;
  const config = parseGiven(configSchema, raw, { says, whole: 'the file', code: 'invalid_config' });
  const strangers = unknownAgents(config);
  if (strangers.length > 0) {
    const issues = strangers.map(([place, agentId]) => `${place}: there is no agent "${agentId}"`);
    const hint = `There is: ${agentIdsOf(config).join(', ')}. Write the name of one of them, or add it under agents.`;
    throw new AppError('invalid_config', `${says}: ${issues.join('; ')}.`, { data: { issues, hint } });
  }
  const twice = Object.keys(config.a2a.peers).filter((name) => name === mainAgentId || Object.hasOwn(config.agents, name));
  if (twice.length > 0) {
    const issues = twice.map((name) => `a2a.peers.${name}: there is an agent "${name}" on this machine`);
    throw new AppError('invalid_config', `${says}: ${issues.join('; ')}.`, { data: { issues, hint: 'Choose another name for the peer.' } });
  }
  return { config, path, warnings: warningsOf(config) };
}

/** Includes agents on other machines, because these can be called too. */
const agentIdsOf = ({ agents, a2a }: Config): string[] => [...new Set([mainAgentId, ...Object.keys(agents), ...Object.keys(a2a.peers)])];

/**
 * Returns unknown agents that a channel or another agent refers to. Otherwise the error would appear only when a message arrives or work is
 * delegated.
 */
function unknownAgents(config: Config): (readonly [place: string, agentId: string])[] {
  const known = new Set(agentIdsOf(config));
  const ofChannels = Object.entries(config.channels).flatMap(([name, channel]) =>
    channel?.agent === undefined ? [] : [[`channels.${name}.agent`, channel.agent] as const],
  );
  const ofHelpers = Object.entries(config.agents).flatMap(([name, { helpers = [] }]) =>
    helpers.map((helper) => [`agents.${name}.helpers`, helper] as const),
  );
  return [...ofChannels, ...ofHelpers].filter(([, agent]) => !known.has(agent));
}

function warningsOf(config: Config): string[] {
  const warnings = Object.entries(config.providers).flatMap(([name, provider]) =>
    'via' in provider && provider.via !== undefined
      ? [`providers.${name}.via has no effect any more: TrayClaw speaks the format with its own adapter. Remove the line.`]
      : [],
  );
  const ref = config.models.default;
  if (ref !== undefined) {
    const provider = ref.slice(0, ref.indexOf('/'));
    if (provider !== 'demo' && config.providers[provider] === undefined && !wellKnown.has(provider)) {
      warnings.push(`models.default names the provider "${provider}", which is not under providers.`);
    }
  }
  return warnings;
}

/** Providers that need no entry: local servers that are found automatically. */
const wellKnown: ReadonlySet<string> = new Set(['ollama', 'lmstudio', 'llama-server', 'llamacpp']);
