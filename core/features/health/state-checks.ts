// Checks of the runtime: calls with an unknown outcome, undelivered messages, secrets, sandbox, panic stop, settings.

import { counted } from '../../base/counted.ts';
import { configSchema, type Config } from '../../contracts/config.ts';
import { toAppError } from '../../contracts/errors.ts';
import { unwell, warning, well, type Finding, type HealthSource } from '../../contracts/health.ts';
import { namesIn } from '../../contracts/named-things.ts';
import { hiddenRules } from '../../guard/policy/policy.ts';
import type { Sandbox } from '../../guard/sandbox/sandbox.ts';
import type { Secrets } from '../../guard/secret/secret.ts';
import type { OutboundRows } from '../../runtime/outbox/outbox.ts';
import { readSettings, type LoadedConfig } from '../../store/config/config.ts';
import type { Spine } from '../feature.ts';

export interface StateChecksDeps extends Pick<Spine, 'log' | 'panic' | 'names' | 'tools'> {
  readonly config: Config;
  readonly loaded: Pick<LoadedConfig, 'path' | 'warnings'>;
  /** Settings passed by the caller instead of a file. */
  readonly options: { readonly config?: unknown };
  readonly outbound: Pick<OutboundRows, 'list'>;
  readonly secrets: Pick<Secrets, 'status' | 'list' | 'unread'>;
  readonly sandbox: Pick<Sandbox, 'health'>;
}

const MESSAGES_COUNTED_MAX = 1_000;

export function stateChecks(deps: StateChecksDeps): HealthSource {
  return {
    check: async () => [
      checkOutcomes(deps),
      checkOutbox(deps),
      await checkSecrets(deps),
      { id: 'sandbox', ...(await deps.sandbox.health()) },
      deps.panic.engaged ? unwell('panic', 'Everything is stopped.', 'trayclaw panic --release') : well('panic', 'Not engaged.'),
      ...(await checkConfig(deps)),
      ...deps.loaded.warnings.map((detail, index) => unwell(`config.${index + 1}`, detail, 'Correct config.yaml.')),
      ...checkToolNames(deps),
      ...checkRules(deps),
    ],
  };
}

function checkOutcomes({ log }: StateChecksDeps): Finding {
  const count = log.index.openCalls().filter((call) => call.state === 'unknown').length;
  if (count === 0) return well('outcomes', 'No call has an unknown outcome.');
  return unwell('outcomes', `${counted(count, 'call has', 'calls have')} an unknown outcome.`, 'trayclaw outcomes list');
}

function checkOutbox({ outbound }: StateChecksDeps): Finding {
  const [uncertain, failed] = (['uncertain', 'failed'] as const).map(
    (state) => outbound.list({ states: [state], limit: MESSAGES_COUNTED_MAX }).length,
  );
  const parts = [
    ...(uncertain === 0 ? [] : [`the delivery of ${counted(uncertain ?? 0, 'message')} is uncertain`]),
    ...(failed === 0 ? [] : [`${counted(failed ?? 0, 'message')} could not be sent`]),
  ].join(', and ');
  if (parts === '') return well('outbox', 'Every outbound message was sent or is on its way.');
  const detail = `${parts.charAt(0).toUpperCase()}${parts.slice(1)}.`;
  return unwell('outbox', detail, 'trayclaw outbox list, then trayclaw outbox settle ID sent, resend or drop');
}

/**
 * Many machines have no keychain, and env: and file: references work without one. A locked store is a problem only if a secret in it was
 * needed.
 */
async function checkSecrets({ secrets }: StateChecksDeps): Promise<Finding> {
  const { store, locked, detail } = await secrets.status();
  if (store === 'none') return well('secrets', `${detail} References env:NAME and file:PATH need neither.`);
  const { unread } = secrets;
  // If no secret in the store was needed, the lock is only a warning. A later use of a secret reports the lock.
  if (locked)
    return (unread === null ? warning : unwell)('secrets', detail, store === 'vault' ? 'trayclaw secret unlock' : 'Unlock the keychain.');
  try {
    await secrets.list();
    if (unread !== null) return unwell('secrets', unread.message, unread.hint ?? 'Start TrayClaw again.');
    return well('secrets', detail);
  } catch (cause) {
    const { message, hint } = toAppError(cause);
    return unwell('secrets', message, hint ?? 'Set the secrets again: trayclaw secret set NAME');
  }
}

/** Checks the current file: changes since the start apply from the next start on, if the file can be read then. */
async function checkConfig({ loaded, options }: StateChecksDeps): Promise<Finding[]> {
  if (options.config !== undefined) return [];
  const { problem } = await readSettings(loaded.path);
  return [
    problem === null ? well('config', 'config.yaml can be read.') : unwell('config', problem, 'Correct config.yaml before the next start.'),
  ];
}

/**
 * A tool may come from a feature or a plugin, so the file alone does not say whether there is one of that name. Those of MCP servers are
 * checked by their feature.
 */
function checkToolNames({ config, names }: StateChecksDeps): Finding[] {
  return namesIn(configSchema, config).flatMap(({ kind, name, place }, index) => {
    if (kind !== 'tool') return [];
    try {
      names.tool(name);
      return [];
    } catch (cause) {
      return [warning(`config.tools.${index + 1}`, `${place}: ${toAppError(cause).message}`, 'Correct config.yaml. See: trayclaw tools')];
    }
  });
}

/** Rules that apply to no tool, and rules behind one that always applies first. The tools of a server come and go with it. */
function checkRules({ config: { policy, mcp }, tools }: StateChecksDeps): Finding[] {
  const known = tools.list().map(({ name }) => name);
  const servers = Object.keys(mcp.servers).map((server) => `${server}__`);
  const reachesNone = (beginning: string): boolean =>
    !known.some((name) => name.startsWith(beginning)) &&
    !servers.some((server) => server.startsWith(beginning) || beginning.startsWith(server));
  const patterns = policy.rules.flatMap(({ when }, at) =>
    (when.tools ?? []).flatMap((name) => (name.endsWith('*') && reachesNone(name.slice(0, -1)) ? [[name, at + 1] as const] : [])),
  );
  return [
    ...patterns.map(([name, number]) => `Rule ${number} of policy.rules: no tool is called ${name}.`),
    ...hiddenRules(policy.rules).map(
      ({ number, by }) => `Rule ${number} of policy.rules never applies, because rule ${by} matches the same calls first.`,
    ),
  ].map((detail, index) => warning(`config.rules.${index + 1}`, detail, 'Correct config.yaml. See: trayclaw tools'));
}
