// Checks a configuration against the schema. A wrong or unknown key is named; what is set but has no effect yet is warned of.

import type { ZodError } from 'zod';
import { configSchema, type Config } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';

export interface LoadedConfig {
  readonly config: Config;
  readonly path: string;
  readonly warnings: readonly string[];
}

/** Checks a whole configuration. `source` is the file it came from, or null for one that was passed in. */
export function parseConfig(source: string | null, raw: unknown, path = source ?? ''): LoadedConfig {
  const parsed = configSchema.safeParse(raw);
  if (!parsed.success) {
    const issues = describeIssues(parsed.error);
    throw new AppError('invalid_config', `${source ?? 'The configuration'} does not fit: ${issues.join('; ')}.`, { data: { issues } });
  }
  return { config: parsed.data, path, warnings: warningsOf(parsed.data) };
}

function describeIssues(error: ZodError): string[] {
  return error.issues.slice(0, 10).map((issue) => {
    const place = issue.path.map(String).join('.');
    if (issue.code === 'unrecognized_keys')
      return `unknown key ${issue.keys.map((key) => (place === '' ? key : `${place}.${key}`)).join(', ')}`;
    return `${place === '' ? 'the file' : place}: ${issue.message}`;
  });
}

function warningsOf(config: Config): string[] {
  const warnings: string[] = [];
  if (config.channels.telegram !== undefined)
    warnings.push('channels.telegram is set, but this version has no Telegram channel yet; nothing is polled.');
  const ref = config.models.default;
  if (ref !== undefined) {
    const provider = ref.slice(0, ref.indexOf('/'));
    if (provider !== 'demo' && config.providers[provider] === undefined && !wellKnown.has(provider)) {
      warnings.push(`models.default names the provider "${provider}", which is not under providers.`);
    }
  }
  return warnings;
}

/** Providers that need no entry: local servers that are found by themselves. */
const wellKnown: ReadonlySet<string> = new Set(['ollama', 'lmstudio', 'llama-server', 'llamacpp']);
