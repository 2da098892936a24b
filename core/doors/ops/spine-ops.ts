// The handlers of the spine's operations. Features provide their own handlers.

import { createActivityOps } from './activity-ops.ts';
import { createApprovalOps } from './approval-ops.ts';
import { createAuditOps } from './audit-ops.ts';
import { createBudgetOps } from './budget-ops.ts';
import { createCheckpointOps } from './checkpoint-ops.ts';
import { createContextOps } from './context-ops.ts';
import { createMessageOps } from './message-ops.ts';
import { createOutboxOps } from './outbox-ops.ts';
import { createPanicOps } from './panic-ops.ts';
import { createProviderOps } from './provider-ops.ts';
import { createSessionOps } from './session-ops.ts';
import { createRunningOps } from './running-ops.ts';
import { createWorkspaceOps } from './workspace-ops.ts';
import type { OpsParts } from './parts.ts';

/** Each group receives all parts, and sees only those its type names. */
export function createSpineOps(parts: OpsParts) {
  return {
    ...createActivityOps(parts),
    ...createApprovalOps(parts),
    ...createAuditOps(parts),
    ...createBudgetOps(parts),
    ...createCheckpointOps(parts),
    ...createContextOps(parts),
    ...createMessageOps(parts),
    ...createOutboxOps(parts),
    ...createPanicOps(parts),
    ...createProviderOps(parts),
    ...createSessionOps(parts),
    ...createRunningOps(parts),
    ...createWorkspaceOps(parts),
  };
}
