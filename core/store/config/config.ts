// config.yaml: read once at start, checked against the schema, never written by a tool. A wrong or unknown key is named.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ZodError } from 'zod';
import { isPlainObject } from '../../base/json.ts';
import { configSchema, type Config } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';

export interface LoadedConfig {
  readonly config: Config;
  readonly path: string;
  readonly warnings: readonly string[];
}

/** From the file in the data folder, or from `given` in its place. Fails with `invalid_config`, naming every wrong key. */
export async function loadConfig(home: string, given?: unknown): Promise<LoadedConfig> {
  const path = join(home, 'config.yaml');
  const raw = given ?? (existsSync(path) ? await readYaml(path) : {});
  const parsed = configSchema.safeParse(raw);
  if (!parsed.success) {
    const issues = describeIssues(parsed.error);
    throw new AppError('invalid_config', `${given === undefined ? path : 'The configuration'} does not fit: ${issues.join('; ')}.`, {
      data: { issues },
    });
  }
  return { config: parsed.data, path, warnings: warningsOf(parsed.data) };
}

async function readYaml(path: string): Promise<unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new AppError('invalid_config', `${path} cannot be read.`, { cause, data: { hint: 'Make the file readable for this user.' } });
  }
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: true });
  const [first] = document.errors;
  if (first !== undefined) throw new AppError('invalid_config', `${path} is not valid YAML: ${first.message}`, { cause: first });
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (value === null || value === undefined) return {};
  if (!isPlainObject(value)) throw new AppError('invalid_config', `${path} must hold keys and values, such as "models:".`);
  return value;
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
  if (config.policy.allowCommands.length > 0)
    warnings.push('policy.allowCommands is set, but this version asks before every command; the list is not used yet.');
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
