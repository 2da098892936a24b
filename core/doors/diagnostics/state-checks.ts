// What the runtime itself has to say: calls of unknown outcome, messages that did not go out, secrets, sandbox, the stop, the settings.

import { toAppError, type AppError } from '../../contracts/errors.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { readSettings } from '../../store/config/config.ts';
import { counted, warning, unwell, well, type Finding, type HealthSource } from '../../contracts/health.ts';

export interface StateChecksDeps {
  readonly warnings: readonly string[];
  /** Null where the settings were handed in. */
  readonly configPath: string | null;
  readonly panic: { readonly engaged: boolean };
  readonly unknownOutcomes: () => number;
  /** Of messages on their way to chats. */
  readonly outbox: () => { readonly uncertain: number; readonly failed: number };
  secretStatus(): Promise<OpResult<'secret.status'>>;
  /** Fails where what is kept cannot be read. */
  secretNames(): Promise<readonly string[]>;
  /** Why kept values are not known to the redactor. */
  unreadSecrets(): AppError | null;
  sandbox(): Promise<Omit<Finding, 'id' | 'repair'>>;
}

export function stateChecks(deps: StateChecksDeps): HealthSource {
  return {
    check: async () => [
      checkOutcomes(deps),
      checkOutbox(deps),
      await checkSecrets(deps),
      { id: 'sandbox', ...(await deps.sandbox()) },
      deps.panic.engaged ? unwell('panic', 'Everything is stopped.', 'trayclaw panic --release') : well('panic', 'Not engaged.'),
      ...(await checkConfig(deps)),
      ...deps.warnings.map((detail, index) => unwell(`config.${index + 1}`, detail, 'Correct config.yaml.')),
    ],
  };
}

function checkOutcomes({ unknownOutcomes }: StateChecksDeps): Finding {
  const count = unknownOutcomes();
  if (count === 0) return well('outcomes', 'No call has an unknown outcome.');
  return unwell('outcomes', `${count === 1 ? 'One call has' : `${count} calls have`} an unknown outcome.`, 'trayclaw outcomes list');
}

function checkOutbox({ outbox }: StateChecksDeps): Finding {
  const { uncertain, failed } = outbox();
  if (uncertain + failed === 0) return well('outbox', 'Every outbound message was sent or is on its way.');
  const parts = [
    ...(uncertain === 0 ? [] : [`the delivery of ${counted(uncertain, 'message')} is uncertain`]),
    ...(failed === 0 ? [] : [`${counted(failed, 'message')} could not be sent`]),
  ].join(', and ');
  return unwell(
    'outbox',
    `${parts.charAt(0).toUpperCase()}${parts.slice(1)}.`,
    'trayclaw outbox list, then trayclaw outbox settle ID sent, resend or drop',
  );
}

/** Many machines have no keychain; env: and file: references work without one. A locked store fails only those who need it. */
async function checkSecrets(deps: StateChecksDeps): Promise<Finding> {
  const { store, locked, detail } = await deps.secretStatus();
  if (store === 'none') return well('secrets', `${detail} References env:NAME and file:PATH need neither.`);
  const unread = deps.unreadSecrets();
  // Where nothing that was asked for is in it, a lock is no fault: what needs a secret says so when it is used.
  if (locked)
    return (unread === null ? warning : unwell)('secrets', detail, store === 'vault' ? 'trayclaw secret unlock' : 'Unlock the keychain.');
  try {
    await deps.secretNames();
    if (unread !== null) return unwell('secrets', unread.message, unread.hint ?? 'Start TrayClaw again.');
    return well('secrets', detail);
  } catch (cause) {
    const { message, hint } = toAppError(cause);
    return unwell('secrets', message, hint ?? 'Set the secrets again: trayclaw secret set NAME');
  }
}

/** The file as it stands now: what was changed since the start holds from the next one on, if it can be read then. */
async function checkConfig({ configPath }: StateChecksDeps): Promise<Finding[]> {
  if (configPath === null) return [];
  const { problem } = await readSettings(configPath);
  return [
    problem === null ? well('config', 'config.yaml can be read.') : unwell('config', problem, 'Correct config.yaml before the next start.'),
  ];
}
