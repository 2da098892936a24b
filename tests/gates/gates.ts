// Every safety gate, as the text change that removes it. Data only: `node tests/gates/remove-gates.ts` applies it.

import { browserGates } from './areas/browser-gates.ts';
import { cautionGates } from './areas/caution-gates.ts';
import { channelGates } from './areas/channel-gates.ts';
import { commandGates } from './areas/command-gates.ts';
import { contextGates } from './areas/context-gates.ts';
import { doorGates } from './areas/door-gates.ts';
import { gitGates } from './areas/git-gates.ts';
import { grantGates } from './areas/grant-gates.ts';
import { harnessGates } from './areas/harness-gates.ts';
import { machineGates } from './areas/machine-gates.ts';
import { mcpGates } from './areas/mcp-gates.ts';
import { memoryGates } from './areas/memory-gates.ts';
import { modelGates } from './areas/model-gates.ts';
import { networkGates } from './areas/network-gates.ts';
import { outsiderGates } from './areas/outsider-gates.ts';
import { pluginGates } from './areas/plugin-gates.ts';
import { policyGates } from './areas/policy-gates.ts';
import { logGates } from './areas/log-gates.ts';
import { readerGates } from './areas/reader-gates.ts';
import { redactionGates } from './areas/redaction-gates.ts';
import { remoteGates } from './areas/remote-gates.ts';
import { runtimeGates } from './areas/runtime-gates.ts';
import { sandboxGates } from './areas/sandbox-gates.ts';
import { secretGates } from './areas/secret-gates.ts';
import { signalGates } from './areas/signal-gates.ts';
import { skillGates } from './areas/skill-gates.ts';
import { taintGates } from './areas/taint-gates.ts';
import { telegramGates } from './areas/telegram-gates.ts';
import { undoGates } from './areas/undo-gates.ts';
import { workspaceGates } from './areas/workspace-gates.ts';
import type { Gate } from './gate.ts';

export const gates: readonly Gate[] = [
  ...policyGates,
  ...grantGates,
  ...harnessGates,
  ...logGates,
  ...runtimeGates,
  ...undoGates,
  ...cautionGates,
  ...commandGates,
  ...readerGates,
  ...machineGates,
  ...gitGates,
  ...networkGates,
  ...secretGates,
  ...redactionGates,
  ...taintGates,
  ...browserGates,
  ...remoteGates,
  ...mcpGates,
  ...memoryGates,
  ...modelGates,
  ...sandboxGates,
  ...doorGates,
  ...outsiderGates,
  ...signalGates,
  ...skillGates,
  ...pluginGates,
  ...telegramGates,
  ...channelGates,
  ...contextGates,
  ...workspaceGates,
];
