// The operations on folders that sessions may use as their workspace; a part of the table in ops.ts.

import * as z from 'zod';
import { defineOps } from './define-ops.ts';

/** The tool that asks a person to trust a folder. */
export const openWorkspaceTool = 'open_workspace';

/** The tool that merges the changes of a chosen copy into a workspace. */
export const mergeCopyTool = 'merge_copy';
export const mergeFilesMax = 1_000;
/** A change of one file; the path is relative to the workspace. */
export const mergeChangeSchema = z.strictObject({ path: z.string().min(1).max(4096), kind: z.enum(['write', 'delete']) });
export type MergeChange = z.infer<typeof mergeChangeSchema>;

export const workspacePath = z.string().min(1).max(4096);

/**
 * configured: the workspace of config.yaml, or below it. data: TrayClaw's own data folder. trusted: a person allowed it. new: not allowed
 * yet. replaced: a person allowed the folder that was here before. refused: cannot be a workspace. missing: no such folder.
 */
export const workspaceStates = ['configured', 'data', 'trusted', 'new', 'replaced', 'refused', 'missing'] as const;
export type WorkspaceState = (typeof workspaceStates)[number];

export const workspaceLookSchema = z.object({
  /** Real path; the path as given if there is no such folder. */
  path: z.string(),
  state: z.enum(workspaceStates),
  /** Why it is refused or needs an approval, as a sentence; empty if neither is the case. */
  reason: z.string(),
  /** The risks that a person should know before trusting it, one sentence each. */
  risks: z.array(z.string()),
  /** The trusted folder that covers it. */
  trustedBy: z.string().nullable(),
});
export type WorkspaceLook = z.infer<typeof workspaceLookSchema>;

export const trustedWorkspaceSchema = z.object({
  path: z.string(),
  grantId: z.string(),
  trustedAtMs: z.number().int(),
  /** Folders that are `replaced` or `missing` cover nothing until a person trusts them again. */
  state: z.enum(workspaceStates),
  /** When a session in it was last used; null if never. */
  lastUsedAtMs: z.number().int().nullable(),
});

export const workspaceOps = defineOps({
  /** Trusted folders, last used first, and the configured workspace. */
  'workspace.list': {
    params: z.strictObject({}),
    result: z.object({ configured: z.string(), workspaces: z.array(trustedWorkspaceSchema) }),
    about: 'list the trusted folders, the last used first',
    commands: { 'folders list': { example: '' } },
  },
  /**
   * Describes a folder as a workspace. `folders` requests the names of folders that begin with the path, for completion. Changes nothing.
   */
  'workspace.look': {
    params: z.strictObject({ path: workspacePath, folders: z.boolean().optional() }),
    result: workspaceLookSchema.extend({ folders: z.array(z.string()).optional() }),
    about: 'show what TrayClaw knows about a folder, and complete its path; changes nothing',
  },
  /** Lets sessions work in the folder and below, until it is forgotten or replaced. Only a person can do this. */
  'workspace.trust': {
    params: z.strictObject({ path: workspacePath }),
    result: trustedWorkspaceSchema,
    about: 'trust a folder: TrayClaw may work in it and below until you revoke that',
    forPerson: true,
    commands: { 'folders trust': { takes: ['path?'], sets: { path: '.' }, paths: ['path'], example: '.' } },
  },
  /** Withdraws the trust in a folder. Sessions that work there ask again. Its files stay. */
  'workspace.forget': {
    params: z.strictObject({ path: workspacePath }),
    result: z.object({ path: z.string(), forgotten: z.number().int() }),
    about: 'stop trusting a folder; its files stay',
    forPerson: true,
    commands: { 'folders forget': { takes: ['path?'], sets: { path: '.' }, paths: ['path'], example: '.' } },
  },
});
