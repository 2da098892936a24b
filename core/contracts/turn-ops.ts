// The operations on messages, turns, tools and artifacts; a part of the table in ops.ts.

import * as z from 'zod';
import { agentName, defineOps, id, messageTextMax, most, none, sessionName, turnName } from './define-ops.ts';
import { attachmentSchema } from './attachments.ts';
import { modelRefSchema } from './config.ts';
import { turnStatusSchema } from './events.ts';
import { toolListingSchema, toolRunResultSchema, toolShownSchema } from './tools.ts';
import { pendingSchema, askResultSchema, turnViewSchema, packPreviewSchema, packViewSchema, artifactInfoSchema } from './op-results.ts';
import { workspacePath } from './workspace-ops.ts';

export const turnOps = defineOps({
  'message.send': {
    params: z.strictObject({
      /** May be empty if there are attachments. */
      text: z.string().max(messageTextMax),
      sessionId: id.optional(),
      agentId: id.optional(),
      dedupeKey: z.string().min(1).max(200).optional(),
      attachments: z.array(attachmentSchema).max(50).optional(),
      /** The original author of forwarded text. Such text can request actions but approves nothing. */
      forwardedFrom: z.string().min(1).max(200).optional(),
      /**
       * Absolute path of the folder in which a new session works; for an existing session, its folder. Asks a person unless it is trusted.
       */
      workspace: workspacePath.optional(),
      /** The model of this message's turn only. */
      model: modelRefSchema.optional(),
    }),
    result: z.object({ sessionId: z.string(), turnId: z.string() }),
    about: 'send a message and start a turn for it; without a session, in a new one',
  },
  'turn.wait': {
    params: z.strictObject({ turnId: id, timeoutMs: z.number().int().min(0).max(86_400_000).optional() }),
    result: askResultSchema,
    about: 'wait until the turn ends, or until it or the turn before it needs an approval, and return its status',
  },
  'turn.cancel': {
    params: z.strictObject({ turnId: id }),
    result: z.object({ turnId: z.string(), status: turnStatusSchema }),
    about: 'cancel a running or waiting turn',
    shows: '{turnId} is {status}.',
    commands: { 'turns cancel': { takes: ['turnId'], example: 'trn_01JD7Q' } },
  },
  'turn.steer': {
    params: z.strictObject({ turnId: id, text: z.string().min(1).max(messageTextMax) }),
    result: z.object({ turnId: z.string() }),
    about: 'send a message to a running turn',
    shows: 'Told {turnId}.',
    commands: { 'turns steer': { takes: ['turnId', 'text...'], example: 'trn_01JD7Q Be brief.' } },
  },
  'turn.get': {
    params: z.strictObject({ turnId: id }),
    result: turnViewSchema,
    about: 'show the phases, calls, decisions and costs of a turn',
    commands: { 'turns show': { takes: ['turnId'], example: 'last' } },
  },
  /** The streamed text of a running turn that is not recorded yet, for a client that joins in the middle. */
  'turn.live': {
    params: z.strictObject({ turnId: turnName }),
    result: z.object({
      texts: z.array(z.object({ kind: z.enum(['text', 'reasoning', 'output']), callId: z.string().nullable(), text: z.string() })),
    }),
    about: 'show the text that a running turn has streamed so far',
  },
  /**
   * Sends the message of a session's last turn again after it has ended, or a changed text instead. For earlier messages, see
   * `turn.branch`.
   */
  'turn.retry': {
    params: z.strictObject({ turnId: id, model: modelRefSchema.optional(), text: z.string().min(1).max(messageTextMax).optional() }),
    result: z.object({ sessionId: z.string(), turnId: z.string() }),
    about: 'send the last message again; the earlier answer stays in the log only',
    forPerson: true,
    follows: true,
    commands: {
      'turns retry': { takes: ['turnId'], options: { model: 'with another model', text: 'with this text in its place' }, example: 'last' },
    },
  },
  /** Creates a session with everything before a turn's message, followed by this text; defaults to the same text. */
  'turn.branch': {
    params: z.strictObject({ turnId: id, text: z.string().min(1).max(messageTextMax).optional() }),
    result: z.object({ sessionId: z.string(), turnId: z.string() }),
    about: 'start a new session from before a turn, with TEXT instead of its message',
    follows: true,
    commands: { 'turns branch': { takes: ['turnId', 'text?'], example: "last 'And in metres?'" } },
  },
  /** A new turn continues the work of a turn that a budget, a limit or a full disk ended. */
  'turn.continue': {
    params: z.strictObject({ turnId: id }),
    result: z.object({ sessionId: z.string(), turnId: z.string() }),
    about: 'continue a turn that a budget, a limit or a full disk ended',
    follows: true,
    commands: { 'turns continue': { takes: ['turnId'], example: 'last' } },
  },
  'pack.get': {
    params: z.strictObject({ packId: id }),
    result: packViewSchema,
    about: 'show what one model request contained: sections, what was left out, the texts',
    commands: { 'packs show': { takes: ['packId'], example: 'last' } },
  },
  /** Of a session, or of one that would begin; `text` is the message that would be sent. Asks no model and records nothing. */
  'pack.preview': {
    params: z.strictObject({
      text: z.string().min(1).max(200_000).optional(),
      sessionId: sessionName.optional(),
      agentId: agentName.optional(),
      model: modelRefSchema.optional(),
    }),
    result: packPreviewSchema,
    about: 'show what the next model request would contain, with the sizes of its parts; asks no model',
    commands: {
      'packs preview': {
        takes: ['text...?'],
        options: { sessionId: 'of this session', agentId: 'of a new session of this agent', model: 'with this model' },
        example: "'What is in this folder?' --session last",
      },
    },
  },
  'tool.run': {
    params: z.strictObject({
      tool: z.string().min(1),
      args: z.unknown(),
      sessionId: id.optional(),
      /** The folder of the session that begins with the call. */
      workspace: workspacePath.optional(),
      /** Until the call ends, when left out; `false` until it ends or waits for an approval; `start` returns its ids at once. */
      wait: z.union([z.boolean(), z.literal('start')]).optional(),
    }),
    result: toolRunResultSchema.extend({ turnId: z.string(), sessionId: z.string(), pending: z.array(pendingSchema).optional() }),
    about: 'run one tool through the gate, without a model',
  },
  /** The available tools. `shows` describes calls in one line, for all tools that may appear in the log. */
  'tool.list': {
    params: none,
    result: z.object({ tools: z.array(toolListingSchema), shows: z.record(z.string(), toolShownSchema).optional() }),
    about: 'list the tools of the agent',
    shows: { each: 'tools', columns: { TOOL: 'name', CLASS: 'class', 'WHAT IT DOES': 'description' }, none: 'No tools.' },
    commands: { tools: { example: '' } },
  },
  'artifact.list': {
    params: z.strictObject({ sessionId: sessionName.optional(), limit: z.number().int().min(1).max(1000).optional() }),
    result: z.object({ artifacts: z.array(artifactInfoSchema) }),
    about: 'list kept outputs and files, newest first',
    shows: {
      each: 'artifacts',
      columns: { 'SHA-256': 'sha256', SIZE: 'sizeBytes', TYPE: 'mediaType', NAME: 'name' },
      none: 'No artifacts.',
    },
    commands: { 'artifacts list': { options: { sessionId: 'of this session only', limit: most }, example: '--limit 5' } },
  },
  'artifact.get': {
    params: z.strictObject({
      artifact: z.string().min(1),
      offset: z.number().int().min(0).optional(),
      length: z.number().int().min(1).max(1_000_000).optional(),
    }),
    result: z.object({
      artifact: artifactInfoSchema,
      text: z.string().nullable(),
      base64: z.string().nullable(),
      nextOffset: z.number().int().nullable(),
    }),
    about: 'return the content of an artifact',
    commands: {
      'artifacts get': {
        about: 'print a file, or write it to a new one',
        takes: ['artifact'],
        words: { artifact: 'its SHA-256, the first digits of it, or a name' },
        options: { '-o, --out <file>': 'write it to a new file', offset: 'start at this byte (with --json)' },
        example: 'b94d27 --out result.txt',
      },
    },
  },
});
