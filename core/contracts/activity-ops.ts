// Operations on past activity: the events of a turn, its export, and search over all events. Used by ops.ts.

import * as z from 'zod';
import { defineOps, id, most, sessionName } from './define-ops.ts';
import { activityKinds, activityOutcomes } from './activity-kinds.ts';
import { eventEnvelopeSchema } from './events.ts';

const moment = z.number().int().min(0);

const activityHitSchema = z.object({
  /** The position of the event in the log. For the next page, request the hits `before` it. */
  seq: z.number().int(),
  sessionId: z.string(),
  title: z.string(),
  /** Null for events outside a turn, such as the panic stop. */
  turnId: z.string().nullable(),
  atMs: z.number().int(),
  type: z.string(),
  kind: z.enum(activityKinds),
  tool: z.string().nullable(),
  outcome: z.enum(activityOutcomes).nullable(),
  excerpt: z.string(),
});

export const activityOps = defineOps({
  /** The events of one turn in order. For the next page, call again with `after` set to the `seq` of the last event. */
  'turn.events': {
    params: z.strictObject({
      turnId: id,
      after: z.number().int().min(0).optional(),
      limit: z.number().int().min(1).max(5000).optional(),
    }),
    result: z.object({ sessionId: z.string(), events: z.array(eventEnvelopeSchema), hasMore: z.boolean() }),
    about: 'list the events of one turn in order; ask again with `after` while there are more',
    commands: {
      'activity events': {
        about: 'list the events of one turn',
        takes: ['turnId'],
        options: { after: 'only events after this place of the log', limit: most },
        example: 'last --limit 20',
      },
    },
  },
  /** Exports one turn: one JSON line per event, or a text for people. */
  'turn.export': {
    params: z.strictObject({ turnId: id, format: z.enum(['jsonl', 'markdown']) }),
    result: z.object({ text: z.string() }),
    about: 'export one turn, as one JSON event a line or as text for people',
    shows: '{text}',
    commands: {
      'activity export': {
        about: 'export one turn',
        takes: ['turnId'],
        options: { format: 'the form of the export' },
        sets: { format: 'jsonl' },
        example: 'last --format markdown',
      },
    },
  },
  /**
   * Searches tools, arguments, decisions, approvals, changed files and errors of all sessions, newest first. All words must match; the last
   * one may be a prefix. Without words, returns everything that passes the filters.
   */
  'activity.search': {
    params: z.strictObject({
      query: z.string().max(1000).optional(),
      kinds: z.array(z.enum(activityKinds)).min(1).max(activityKinds.length).optional(),
      tool: z.string().min(1).max(200).optional(),
      outcome: z.enum(activityOutcomes).optional(),
      sessionId: sessionName.optional(),
      fromMs: moment.optional(),
      toMs: moment.optional(),
      before: z.number().int().min(1).optional(),
      limit: z.number().int().min(1).max(200).optional(),
    }),
    result: z.object({ hits: z.array(activityHitSchema), nextBefore: z.number().int().nullable() }),
    about: 'search calls, decisions, approvals, changed files and errors, newest first',
    shows: {
      each: 'hits',
      columns: { WHEN: 'atMs', TURN: 'turnId', KIND: 'kind', OUTCOME: 'outcome', WHAT: 'excerpt' },
      none: 'Nothing found.',
    },
    commands: {
      'activity search': {
        takes: ['query...?'],
        options: {
          kinds: { flag: 'kind', about: 'of these kinds only' },
          tool: 'calls of this tool only',
          outcome: 'with this outcome only',
          sessionId: 'in this session only',
          before: 'only what came before this place of the log',
          limit: most,
        },
        example: 'notes --kind file --limit 5',
      },
    },
  },
});
