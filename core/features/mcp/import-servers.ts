// Reads the servers from another program's file: `mcpServers` (Claude Desktop, Cursor and most others) or `servers` (VS Code). Pure.
// Returns secrets separately from the servers, because they do not belong in config.yaml.

import { isPlainObject, parseJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import { mcpServerNameSchema, mcpServerSchema, type McpServerConfig } from '../../contracts/features/mcp.ts';
import { isSecretReference, needsReference } from '../../contracts/secret-ref.ts';

export interface ImportedServer {
  readonly name: string;
  readonly config: McpServerConfig;
  /** The secrets, by the name under which each is stored. */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface ImportReading {
  readonly servers: readonly ImportedServer[];
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

const SERVERS_MAX = 50;

/** Fails with invalid_params if the text is not such a file. `looksSecret` judges values whose name does not tell. */
export function readServers(text: string, looksSecret: (name: string, value: string) => boolean): ImportReading {
  const file = parseJson(text.replaceAll(/^\s*\/\/.*$/gm, ''));
  if (!file.ok || !isPlainObject(file.value)) throw notSuchFile(file.ok ? 'it is not an object' : file.error);
  const listed = file.value['mcpServers'] ?? file.value['servers'];
  if (!isPlainObject(listed)) throw notSuchFile('it has neither mcpServers nor servers');
  const servers: ImportedServer[] = [];
  const skipped: { name: string; reason: string }[] = [];
  for (const [given, entry] of Object.entries(listed).slice(0, SERVERS_MAX)) {
    const read = readServer(given, entry, looksSecret);
    if (typeof read === 'string') skipped.push({ name: given.slice(0, 100), reason: read });
    else if (servers.some(({ name }) => name === read.name))
      skipped.push({ name: given.slice(0, 100), reason: `There is another ${read.name}.` });
    else servers.push(read);
  }
  return { servers, skipped };
}

/** The server, or the reason why it cannot be imported. */
function readServer(given: string, entry: unknown, looksSecret: (name: string, value: string) => boolean): ImportedServer | string {
  const name = given
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 31)
    .replace(/-+$/, '');
  if (!mcpServerNameSchema.safeParse(name).success) return 'Its name has no letter to begin with.';
  if (!isPlainObject(entry)) return 'It is not an object.';
  if (entry['type'] === 'sse')
    return 'It uses the old transport with server-sent events, which ended in 2024. Its maker may offer an address for HTTP.';
  const variable = JSON.stringify(entry).match(/\$\{(input|command):[^}]*\}/);
  if (variable !== null)
    return `It asks for a value when it starts (${variable[0].slice(0, 60)}). Put it into the keychain and add the server by hand.`;
  const secrets: Record<string, string> = {};
  const values = (from: unknown): Record<string, string> | undefined => {
    if (!isPlainObject(from) || Object.keys(from).length === 0) return undefined;
    return Object.fromEntries(
      Object.entries(from).map(([key, value]) => {
        const text = String(value);
        const variableOf = /^\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(text)?.[1];
        if (variableOf !== undefined) return [key, `env:${variableOf}`];
        if (isSecretReference(text) || !(needsReference(key, text) || looksSecret(key, text))) return [key, text];
        const kept = `mcp-${name}-${key}`.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, 100);
        secrets[kept] = text;
        return [key, `keychain:${kept}`];
      }),
    );
  };
  const url = entry['url'] ?? entry['serverUrl'];
  const draft =
    url === undefined
      ? { command: entry['command'], args: entry['args'], cwd: entry['cwd'], env: values(entry['env']) }
      : { url, headers: values(entry['headers']) };
  const checked = mcpServerSchema.safeParse({
    ...Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined)),
    ...(entry['disabled'] === true || entry['enabled'] === false ? { enabled: false } : {}),
  });
  if (checked.success) return { name, config: checked.data, secrets };
  const [issue] = checked.error.issues;
  return `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'It cannot be read.'}`.trim();
}

function notSuchFile(why: string): AppError {
  return new AppError('invalid_params', `This is not a list of MCP servers: ${why}.`, {
    hint: 'Such a file is JSON with mcpServers (Claude Desktop, Cursor) or servers (VS Code).',
  });
}
