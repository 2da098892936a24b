// The operations on approvals, grants and the gate; a part of the table in ops.ts.

import * as z from 'zod';
import { defineOps, id, messageTextMax, none } from './define-ops.ts';
import { fileDiffSchema } from './checkpoints.ts';
import { policyModeSchema } from './config.ts';
import {
  approvalSchema,
  grantChoiceSchema,
  grantListingSchema,
  grantMatchSchema,
  grantScopeSchema,
  grantSchema,
  policyDecisionSchema,
} from './policy.ts';
import { unknownOutcomeSchema, sandboxExplanationSchema } from './op-results.ts';

export const gateOps = defineOps({
  'approval.list': {
    params: z.strictObject({ all: z.boolean().optional() }),
    result: z.object({ approvals: z.array(approvalSchema) }),
    about: 'list the calls that wait for your answer',
    commands: { 'approvals list': { options: { all: 'also what was decided' }, example: '--all' } },
  },
  'approval.decide': {
    params: z.strictObject({
      approvalId: id,
      decision: z.enum(['approve', 'deny']),
      scope: grantScopeSchema.optional(),
      /** Index into the approval's `choices` for a scope wider than once. Defaults to 0, the narrowest choice. */
      choice: z.number().int().min(0).max(20).optional(),
      /** For a denial: the reason, for the agent. */
      reason: z.string().trim().min(1).max(2000).optional(),
      /**
       * For an approval: the changed arguments for this one call. The gate judges the call again. If that reveals something the approval
       * request did not show, the request is withdrawn and a new one asks about the changed call.
       */
      args: z.record(z.string(), z.unknown()).optional(),
    }),
    result: approvalSchema,
    about: 'approve or deny a call, with a scope that may reach beyond it, or as you changed it',
    forPerson: true,
  },
  'grant.list': {
    params: z.strictObject({ all: z.boolean().optional() }),
    result: z.object({ grants: z.array(grantListingSchema) }),
    about: 'list the grants in effect',
    commands: { 'grants list': { options: { all: 'also those that are spent, revoked or over' }, example: '--all' } },
  },
  'grant.revoke': {
    params: z.strictObject({ grantId: id }),
    result: grantSchema,
    about: 'revoke a grant',
    shows: 'Revoked: {covers}',
    forPerson: true,
    commands: { 'grants revoke': { takes: ['grantId'], example: 'grt_01JD7Q' } },
  },
  'grant.preview': {
    params: z.strictObject({
      match: grantMatchSchema,
      days: z.number().int().min(1).max(365).optional(),
      /** The call that is being asked about does not count. */
      exceptCallId: id.optional(),
    }),
    result: z.object({
      covered: z.array(
        z.object({ callId: z.string(), tool: z.string(), summary: z.string(), atMs: z.number().int(), outcome: z.string() }),
      ),
      asked: z.number().int(),
      /** The number of calls that the grant would have covered; `covered` contains the newest of them. */
      total: z.number().int(),
      /** The oldest call that was searched; null if the whole log was searched. */
      lookedBackToMs: z.number().int().nullable(),
    }),
    about: 'show which past calls a grant would have covered',
    commands: {
      'grants preview': {
        takes: ['match'],
        words: { match: 'what it would match, as JSON' },
        options: { days: 'how far to look back' },
        example: `'{"kind":"folder","tool":"write_file","folder":"/home/me/notes"}'`,
      },
    },
  },
  'outcome.list': {
    params: none,
    result: z.object({ outcomes: z.array(unknownOutcomeSchema) }),
    about: 'list the calls with an unknown outcome',
    shows: {
      each: 'outcomes',
      columns: { CALL: 'callId', TOOL: 'tool', WHEN: 'atMs', WHY: 'reason', ARGUMENTS: 'args' },
      none: 'No call has an unknown outcome.',
    },
    commands: { 'outcomes list': { example: '' } },
  },
  'outcome.settle': {
    params: z.strictObject({ callId: id, answer: z.enum(['done', 'retry', 'abandon']) }),
    result: z.object({ callId: z.string(), turnId: z.string().nullable() }),
    about: 'record the outcome of a call whose outcome is unknown',
    shows: 'Settled: {callId} ({answer})',
    forPerson: true,
    live: true,
    commands: {
      'outcomes settle': {
        takes: ['callId', 'answer'],
        words: { answer: 'done: it happened · retry: run it again · abandon: leave it' },
        example: 'call_01JD7Q done',
      },
    },
  },
  'policy.explain': {
    params: z.strictObject({
      tool: z.string().min(1),
      args: z.unknown(),
      cwd: z.string().optional(),
      /** Decides as in this session, with its folder as the workspace. */
      sessionId: id.optional(),
      /** Without a session: the current folder of the person, as for `sandbox.explain`. */
      folder: z.string().optional(),
    }),
    result: policyDecisionSchema.extend({
      mode: policyModeSchema,
      /** The grant that covers the call. */
      grantId: z.string().nullable(),
      /** Wider scopes that a person could choose if the policy asked. */
      choices: z.array(grantChoiceSchema),
    }),
    about: 'explain what the policy would decide about a call; runs nothing',
    commands: {
      'policy explain': {
        takes: [':request'],
        words: { request: '{tool, args, cwd?} as JSON' },
        example: `'{"tool":"exec","args":{"command":"git status"}}'`,
      },
    },
  },
  'sandbox.explain': {
    params: z.strictObject({
      command: z.string().min(1).max(100_000).optional(),
      cwd: z.string().optional(),
      /** The current folder of the person. It is the workspace if it is trusted; otherwise the configured workspace is. */
      folder: z.string().optional(),
    }),
    result: sandboxExplanationSchema,
    about: 'show what a confined command may touch, and whether COMMAND would be confined; runs nothing',
    commands: {
      'sandbox explain': {
        takes: ['command?'],
        words: { command: 'a command line, in quotes' },
        options: { cwd: 'the folder it would run in' },
        paths: ['cwd'],
        example: "'npm test'",
      },
    },
  },
  'safety.url': {
    params: z.strictObject({ url: z.string().max(8192) }),
    result: z.object({ decision: z.enum(['allow', 'deny']), reason: z.string(), url: z.string() }),
    about: 'say whether an address may be opened',
    commands: { 'safety url': { takes: ['url'], example: 'https://example.org/' } },
  },
  'safety.redact': {
    params: z.strictObject({ text: z.string().max(messageTextMax) }),
    result: z.object({ text: z.string(), found: z.array(z.string()) }),
    about: 'redact the secrets in a text',
    commands: { 'safety redact': { about: 'take the secrets out of the text on standard input', stdin: 'text', example: '< notes.txt' } },
  },
  /** The files that a pending call would change, if its tool can tell; otherwise none. */
  'approval.diff': {
    params: z.strictObject({ approvalId: id }),
    result: z.object({ files: z.array(fileDiffSchema) }),
    about: 'show what a waiting call would change in files',
    commands: { 'approvals show': { takes: ['approvalId'], example: 'apr_01JD7Q' } },
  },
});
