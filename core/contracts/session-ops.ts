// The operations on sessions; a part of the table in ops.ts.

import * as z from 'zod';
import { defineOps, id, most } from './define-ops.ts';
import { modelRefSchema } from './config.ts';
import { eventEnvelopeSchema } from './events.ts';
import { sessionInfoSchema } from './op-results.ts';
import { planChoiceSchema } from './turn-bounds.ts';
import { workspacePath } from './workspace-ops.ts';

const cursor = 'the next page, as the page before named it';

const searchHitSchema = z.object({
  sessionId: z.string(),
  title: z.string(),
  seq: z.number().int(),
  atMs: z.number().int(),
  type: z.string(),
  excerpt: z.string(),
});

export const sessionOps = defineOps({
  /** Pinned sessions first, then the newest. `cursor` is the `nextCursor` of the previous page. */
  'session.list': {
    params: z.strictObject({
      archived: z.boolean().optional(),
      /** Includes sessions without a person: of subagents, pipelines and evals. */
      helpers: z.boolean().optional(),
      limit: z.number().int().min(1).max(1000).optional(),
      /** Only sessions that work in this folder; `null` means the configured workspace. */
      workspace: workspacePath.nullable().optional(),
      cursor: z.string().min(1).max(200).optional(),
    }),
    result: z.object({ sessions: z.array(sessionInfoSchema), nextCursor: z.string().nullable() }),
    about: 'list the sessions: pinned ones first, then the newest',
    shows: {
      each: 'sessions',
      columns: { SESSION: 'sessionId', CHANGED: 'updatedAtMs', STATUS: 'status', TITLE: 'title' },
      none: 'No sessions.',
    },
    commands: {
      history: {
        about: 'show the latest sessions and their status',
        options: { limit: most, cursor },
        sets: { limit: 10 },
        shows: {
          each: 'sessions',
          columns: { WHEN: 'updatedAtMs', SESSION: 'sessionId', STATUS: 'status', TITLE: 'title', 'LAST WORDS': 'lastText' },
          none: 'Nothing was said yet.',
        },
        example: '--limit 3',
      },
      'sessions list': {
        options: {
          archived: 'the archived ones',
          helpers: { flag: 'subagents', about: 'also the sessions of subagents, pipelines and evals' },
          limit: most,
          workspace: { flag: 'workspace <folder>', about: 'those that work in this folder' },
          cursor,
        },
        paths: ['workspace'],
        example: '--limit 5',
      },
    },
  },
  /**
   * `after` and `before` are global sequence numbers, as on the event stream. With neither, returns the newest events. `turns` requests the
   * last whole turns of that range instead of a number of events. `types` filters the events.
   */
  'session.get': {
    params: z.strictObject({
      sessionId: id,
      after: z.number().int().min(0).optional(),
      before: z.number().int().min(1).optional(),
      /** The page that begins with the first event at or after this time. */
      fromMs: z.number().int().min(0).optional(),
      limit: z.number().int().min(1).max(5000).optional(),
      turns: z.number().int().min(1).max(200).optional(),
      types: z.array(z.string().min(1).max(100)).min(1).max(100).optional(),
    }),
    result: z.object({
      session: sessionInfoSchema,
      events: z.array(eventEnvelopeSchema),
      /** The value of `before` for the page that precedes this one; null at the beginning of the session. */
      earlierBefore: z.number().int().nullable(),
    }),
    about: 'show the events of a session',
    commands: {
      'sessions show': {
        takes: ['sessionId'],
        options: { limit: 'how many events at most', before: 'only events before this place of the log' },
        example: 'last --limit 20',
      },
    },
  },
  'session.create': {
    params: z.strictObject({
      title: z.string().max(200).optional(),
      agentId: id.optional(),
      model: modelRefSchema.optional(),
      /** Absolute path of the folder that it works in. Its first turn asks a person unless the folder is trusted. */
      workspace: workspacePath.optional(),
    }),
    result: sessionInfoSchema,
    about: 'create a session, for an agent and in a folder if they are given',
  },
  'session.rename': {
    params: z.strictObject({ sessionId: id, title: z.string().min(1).max(200) }),
    result: sessionInfoSchema,
    about: 'give a session another title',
    shows: '{sessionId}  {title}',
    commands: { 'sessions rename': { takes: ['sessionId', 'title'], example: "last 'Trip to Rome'" } },
  },
  'session.pin': {
    params: z.strictObject({ sessionId: id, pinned: z.boolean() }),
    result: sessionInfoSchema,
    about: 'keep a session at the top of the list',
    shows: '{sessionId}  {title}',
    commands: {
      'sessions pin': {
        takes: ['sessionId'],
        sets: { pinned: true },
        options: { '--undo': { about: 'no longer first', sets: { pinned: false } } },
        example: 'last',
      },
    },
  },
  /** A person has seen the session up to `seq`, a global position; defaults to all of it. Records nothing if nothing was unread. */
  'session.seen': {
    params: z.strictObject({ sessionId: id, seq: z.number().int().min(0).optional() }),
    result: sessionInfoSchema,
    about: 'mark a session as read',
    shows: '{sessionId}  {title}',
    commands: { 'sessions seen': { takes: ['sessionId'], example: 'last' } },
  },
  /** Effective from the next turn. A null model means the default model. */
  'session.configure': {
    params: z.strictObject({
      sessionId: id,
      model: modelRefSchema.nullable().optional(),
      agentId: id.optional(),
      /** Only reads run until a person has approved a plan. With `steps`, each step needs an approval too. */
      planFirst: planChoiceSchema.optional(),
    }),
    result: sessionInfoSchema,
    about: 'choose model and agent of a session, and whether a plan comes first',
    forPerson: true,
    commands: {
      'sessions configure': {
        takes: ['sessionId'],
        options: {
          model: 'the model of its next turns; "default" for the usual one',
          agentId: 'the agent of its next turns',
          planFirst: 'only reads run until you approve a plan: off, whole, or steps to approve each step too',
        },
        example: 'last --model default',
      },
    },
  },
  /** All words must match; the last one may be a prefix. `each: session` returns every session once, with its best match. */
  'session.search': {
    params: z.strictObject({
      query: z.string().min(1).max(1000),
      limit: z.number().int().min(1).max(200).optional(),
      sessionId: id.optional(),
      each: z.enum(['place', 'session']).optional(),
    }),
    result: z.object({ hits: z.array(searchHitSchema) }),
    about: 'search what was said; all words must occur, the last one may be a prefix',
    shows: { each: 'hits', columns: { SESSION: 'sessionId', WHEN: 'atMs', WHAT: 'excerpt' }, none: 'Nothing found.' },
    commands: {
      'sessions search': {
        takes: ['query...'],
        options: { limit: 'how many hits at most', sessionId: 'in this session only', each: 'every place, or each session once' },
        example: 'train tickets',
      },
    },
  },
  'session.fork': {
    params: z.strictObject({ sessionId: id, atSessionSeq: z.number().int().min(1).optional(), title: z.string().max(200).optional() }),
    result: sessionInfoSchema,
    about: 'start a new session with the conversation so far',
    shows: '{sessionId}  {title}',
    commands: {
      'sessions fork': {
        takes: ['sessionId'],
        options: { atSessionSeq: { flag: 'at', about: 'after this event of the session' }, title: 'the title of the new session' },
        example: "last --title 'Another way'",
      },
    },
  },
  'session.export': {
    params: z.strictObject({ sessionId: id, format: z.enum(['jsonl', 'markdown']) }),
    result: z.object({ text: z.string() }),
    about: 'print a session, to keep',
    shows: '{text}',
    commands: {
      'sessions export': {
        takes: ['sessionId'],
        options: { format: 'the form of the export' },
        sets: { format: 'jsonl' },
        example: 'last --format markdown',
      },
    },
  },
  'session.archive': {
    params: z.strictObject({ sessionId: id, archived: z.boolean().default(true) }),
    result: sessionInfoSchema,
    about: 'archive a session, so that the list leaves it out',
    commands: {
      'sessions archive': {
        takes: ['sessionId'],
        sets: { archived: true },
        options: { '--undo': { about: 'take it out of the archive', sets: { archived: false } } },
        example: 'last',
      },
    },
  },
  /** Deletes the sessions of its subagents too. `events` counts everything that was removed. */
  'session.delete': {
    params: z.strictObject({ sessionId: id }),
    result: z.object({ sessionId: z.string(), events: z.number().int() }),
    about: 'delete a session and the sessions of its subagents for good',
    shows: 'Deleted {sessionId} ({events} events).',
    commands: { 'sessions delete': { takes: ['sessionId'], confirm: 'Delete this session for good?', example: 'ses_01JD7Q --yes' } },
  },
});
