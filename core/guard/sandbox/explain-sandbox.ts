// Describes the sandbox for `sandbox explain`. Pure.

import type { OpResult } from '../../contracts/ops.ts';
import type { Config } from '../../contracts/config.ts';
import type { MissingProgram, SandboxBackend } from './sandbox-backend.ts';
import { foldersWith, type SandboxPolicy } from './sandbox-policy.ts';
import type { SideChoice } from './sandbox-side.ts';

export type SandboxExplanation = OpResult<'sandbox.explain'>;

export interface ExplainedSandbox {
  readonly config: Config['sandbox'];
  readonly policy: SandboxPolicy;
  readonly backend: SandboxBackend | null;
  readonly missing: readonly MissingProgram[];
  /** Null if no command was given. */
  readonly choice: SideChoice | null;
  readonly environmentNames: readonly string[];
}

export function explainSandbox(about: ExplainedSandbox): SandboxExplanation {
  const { config, policy, backend, missing, choice } = about;
  return {
    mode: config.mode,
    backend: backend === null ? null : { name: backend.name, how: backend.how },
    available: config.mode !== 'off' && backend !== null && missing.length === 0,
    missing: missing.map(({ what, install }) => ({ what, install })),
    command: choice === null ? null : settle(about, choice),
    files: {
      write: [...foldersWith('write', policy), '$TMPDIR'],
      read: foldersWith('read', policy),
      hidden: [...foldersWith('hidden', policy), ...foldersWith('temporary', policy), ...policy.hiddenFiles],
      deny: [...config.files.deny],
      protected: [...protectedWords],
    },
    network: { allowDomains: [...policy.allowDomains] },
    environment: [...about.environmentNames],
    limits: (backend?.limits() ?? []).map((limit) => ({ ...limit })),
  };
}

const protectedWords = [
  '.env and other key files: hidden',
  '.ssh, .gnupg, .aws and the like: hidden',
  'hooks and config of every git folder, start-up files of shells: read-only; new ones are moved away afterwards and fail the call',
];

function settle({ config, missing, backend }: ExplainedSandbox, choice: SideChoice): NonNullable<SandboxExplanation['command']> {
  const lacks = missing.length > 0 || backend === null;
  if (choice.side === 'outside' || !lacks) return { runs: choice.side, reason: choice.reason };
  const why = `${choice.reason}, and there is no sandbox here`;
  return { runs: config.mode === 'required' ? 'refused' : 'outside', reason: why };
}
