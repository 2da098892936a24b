// The folder a session works in, as a project: its instructions, its files for mentions, and git worktrees. The events and the operations.

import * as z from 'zod';
import { defineOps, none, sessionName } from '../define-ops.ts';
import { workspacePath } from '../workspace-ops.ts';

/** The tool that adds or removes a git worktree. */
export const worktreeTool = 'git_worktree';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest');

const projectEvents = {
  /** A person accepted this content of a project file as instructions. Any other content is untrusted material. */
  'project.accepted': z.object({ path: z.string(), sha256: z.string(), by: z.string() }),
  'project.withdrawn': z.object({ path: z.string(), by: z.string() }),
} as const;

/** none: no project file. new: shown as untrusted material. accepted: its text is followed. changed: a different text was accepted. */
export const instructionStates = ['none', 'new', 'accepted', 'changed'] as const;

export const projectSchema = z.object({
  /** Real path. */
  folder: z.string(),
  state: z.enum(instructionStates),
  /** AGENTS.md, else CLAUDE.md; null if there is neither. `text` is what the model sees, with known secrets redacted. */
  file: z.object({ name: z.string(), path: z.string(), sha256: z.string(), text: z.string() }).nullable(),
  /** Whether a worktree can be added, because the folder is the root of a git repository. */
  isRepository: z.boolean(),
});
export type Project = z.infer<typeof projectSchema>;

export const worktreeSchema = z.object({
  path: z.string(),
  /** Null if its HEAD is on no branch. */
  branch: z.string().nullable(),
  /** Changed, new and ignored files, which a removal deletes. Limited in number. */
  uncommitted: z.array(z.string()),
  /** Whether it has commits that are on no branch, which a removal loses. */
  isDetached: z.boolean(),
  /** The newest session that works in it. */
  sessionId: z.string().nullable(),
});
export type Worktree = z.infer<typeof worktreeSchema>;

const begunSchema = z.object({
  sessionId: z.string(),
  turnId: z.string(),
  path: z.string(),
  branch: z.string(),
  /** Whether it waits for an approval. */
  waiting: z.boolean(),
});

const projectOps = defineOps({
  /** Returns the project file of a folder, and whether its text is accepted as instructions. Changes nothing. */
  'project.get': {
    params: z.strictObject({ folder: workspacePath }),
    result: projectSchema,
    about: 'show the instructions of a folder (AGENTS.md), and whether you accepted them',
    commands: { 'folders instructions': { takes: ['folder?'], sets: { folder: '.' }, paths: ['folder'], example: '.' } },
  },
  /** From the next turn on, the text with this hash counts as instructions of the person. Only in a trusted folder. */
  'project.accept': {
    params: z.strictObject({ folder: workspacePath, sha256 }),
    result: projectSchema,
    about: 'follow the instructions of a trusted folder, as they are now',
    forPerson: true,
    commands: {
      'folders accept': {
        takes: ['folder?'],
        sets: { folder: '.' },
        paths: ['folder'],
        options: { sha256: 'the digest that `folders instructions` showed' },
        example: '. --sha256 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      },
    },
  },
  'project.withdraw': {
    params: z.strictObject({ folder: workspacePath }),
    result: projectSchema,
    about: 'stop following the instructions of a folder; they are shown as material',
    forPerson: true,
    commands: { 'folders withdraw': { takes: ['folder?'], sets: { folder: '.' }, paths: ['folder'], example: '.' } },
  },
  /**
   * Files of the session's folder whose path contains the query, best match first. Without a session, files of the configured workspace.
   */
  'project.files': {
    params: z.strictObject({ sessionId: sessionName.optional(), query: z.string().max(500) }),
    result: z.object({
      /** Relative to the folder, with forward slashes. */
      files: z.array(z.string()),
      /** Whether the search stopped at its limit and the folder has more files. */
      isCut: z.boolean(),
    }),
    about: 'find files in the folder of a session by their path',
  },
  /** Creates a few small files in the workspace for the first tasks. Existing files are left alone. */
  'project.example': {
    params: none,
    result: z.object({ folder: z.string(), made: z.array(z.string()) }),
    about: 'make a small example folder in the workspace to try things on',
    shows: 'The example folder is {folder}.',
    forPerson: true,
    commands: { 'folders example': { example: '' } },
  },
  /** The worktrees that TrayClaw added to a repository. */
  'worktree.list': {
    params: z.strictObject({ folder: workspacePath }),
    result: z.object({ worktrees: z.array(worktreeSchema) }),
    about: 'list the git worktrees of sessions in a repository',
    shows: {
      each: 'worktrees',
      columns: { worktree: 'path', branch: 'branch', session: 'sessionId' },
      none: 'No session has a worktree here.',
    },
    commands: { 'worktrees list': { takes: ['folder?'], sets: { folder: '.' }, paths: ['folder'], example: '.' } },
  },
  /** Starts a session in a new worktree of a trusted repository. The call that adds it passes the gate. */
  'worktree.begin': {
    params: z.strictObject({ folder: workspacePath, name: z.string().max(60).optional() }),
    result: begunSchema,
    about: 'start a session in a new git worktree, on a new branch',
    forPerson: true,
    live: true,
    commands: {
      'worktrees add': {
        takes: ['folder?'],
        sets: { folder: '.' },
        paths: ['folder'],
        options: { name: 'the name of its branch' },
        example: '.',
      },
    },
  },
  /** Removes a worktree; its branch stays. Refused if files or commits would be lost, unless `discard` is set. */
  'worktree.remove': {
    params: z.strictObject({ path: workspacePath, discard: z.boolean().optional() }),
    result: z.object({ path: z.string(), waiting: z.boolean() }),
    about: 'remove a git worktree; its branch stays',
    forPerson: true,
    live: true,
    commands: {
      'worktrees remove': {
        takes: ['path'],
        paths: ['path'],
        options: { discard: { about: 'also when that loses uncommitted files', sets: { discard: true } } },
        example: '/home/me/project/.trayclaw/worktrees/fix',
      },
    },
  },
});

export const projectContract = {
  events: projectEvents,
  ops: projectOps,
  families: { project: 'Folders', worktree: 'Folders' },
  help: { worktrees: ['Set up', 'git worktrees, one for a session'] },
} as const;
