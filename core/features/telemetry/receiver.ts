// One receiver of traces: an OTLP endpoint, or Langfuse. Interprets its answers: accepted, refused permanently, or to be retried later.

import { gzipSync } from 'node:zlib';
import { valueAt, jsonIn } from '../../base/json.ts';
import { isAppError, toAppError } from '../../contracts/errors.ts';
import type { TelemetryConfig, TelemetryTarget } from '../../contracts/features/telemetry.ts';
import { resolvedValue } from '../../contracts/secret-ref.ts';
import { GuardedFetch, type FetchAnswer } from '../../guard/egress/egress.ts';
import { OneOriginCheck } from '../../guard/safety/safety.ts';
import { evaluation } from './conventions.ts';
import { metricsJson, traceIdOf, tracesJson, type Resource } from './otlp-json.ts';
import type { TurnTrace } from './turn-spans.ts';

export type Delivery =
  | { readonly kind: 'taken'; readonly rejectedSpans: number }
  /** Sending it again would be refused again. */
  | { readonly kind: 'refused' }
  /** `why` continues a sentence that starts with the host; `waitMs` is the delay that the receiver asked for. */
  | { readonly kind: 'later'; readonly why: string; readonly waitMs: number | null };

export interface Receiver {
  readonly name: TelemetryTarget;
  /** The host, as shown to people. */
  readonly address: string;
  send(traces: readonly TurnTrace[], signal: AbortSignal): Promise<Delivery>;
}

export interface ReceiverDeps {
  readonly resource: Resource;
  readonly resolve: (reference: string) => Promise<string>;
}

const limits = { connectMs: 10_000, headersMs: 30_000, idleMs: 30_000, totalMs: 60_000, bytesMax: 1024 * 1024 };
/**
 * Statuses that are retried. OTLP defines which ones are retryable. 401, 403, 404 and 415 are included because a person can fix the
 * credentials, the address or the formats that the receiver takes. Any other 4xx status is final.
 */
const mendable = new Set([401, 403, 404, 408, 415, 429, 500, 502, 503, 504]);
const RETRY_AFTER_MAX_MS = 60 * 60_000;

export function otlpReceiver(config: NonNullable<TelemetryConfig['otlp']>, { resource, resolve }: ReceiverDeps): Receiver {
  const headers = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      await Promise.all(Object.entries(config.headers).map(async ([name, value]) => [name, await resolvedValue(value, resolve)] as const)),
    );
  const { endpoint, metricsEndpoint } = config;
  return {
    name: 'otlp',
    address: new URL(endpoint).host,
    async send(traces, signal) {
      const taken = await post(endpoint, tracesJson(traces, resource), headers, signal);
      if (taken.kind !== 'taken' || metricsEndpoint === undefined) return taken;
      const sums = metricsJson(traces, resource);
      // Sums have no ids. They are never sent again, so that nothing counts twice.
      if (sums !== null) await post(metricsEndpoint, sums, headers, signal);
      return taken;
    },
  };
}

export function langfuseReceiver(config: NonNullable<TelemetryConfig['langfuse']>, { resource, resolve }: ReceiverDeps): Receiver {
  const base = config.baseUrl.replace(/\/+$/, '');
  const headers = async (): Promise<Record<string, string>> => {
    const pair = `${await resolvedValue(config.publicKey, resolve)}:${await resolvedValue(config.secretKey, resolve)}`;
    return { authorization: `Basic ${Buffer.from(pair).toString('base64')}`, 'x-langfuse-ingestion-version': '4' };
  };
  return {
    name: 'langfuse',
    address: new URL(base).host,
    async send(traces, signal) {
      const taken = await post(`${base}/api/public/otel/v1/traces`, tracesJson(traces, resource), headers, signal);
      if (taken.kind !== 'taken') return taken;
      for (const score of traces.flatMap(scoreOf)) {
        const scored = await post(`${base}/api/public/scores`, score, headers, signal);
        if (scored.kind === 'later') return scored;
      }
      return taken;
    },
  };
}

/**
 * A failed turn is scored 0, and an eval case gets its score. The score id is derived from the turn or case, so sending it twice gives one
 * score.
 */
function scoreOf({ turnId, rootTurnId, spans: [turn] }: TurnTrace): object[] {
  if (turn === undefined) return [];
  const { [evaluation.label]: verdict, [evaluation.score]: value } = turn.attributes;
  const graded = {
    id: `${traceIdOf(turnId)}-eval`,
    traceId: traceIdOf(rootTurnId),
    name: 'eval',
    value,
    dataType: 'NUMERIC',
    comment: verdict,
  };
  if (typeof verdict === 'string') return typeof value === 'number' ? [graded] : [];
  if (turn.error === null) return [];
  const comment = turn.error.slice(0, 500);
  return [{ id: `${turnId}-success`, traceId: traceIdOf(rootTurnId), name: 'success', value: 0, dataType: 'BOOLEAN', comment }];
}

async function post(url: string, body: object, headers: () => Promise<Record<string, string>>, signal: AbortSignal): Promise<Delivery> {
  try {
    const given = await headers();
    const http = new GuardedFetch({ judge: new OneOriginCheck(url), limits, userAgent: 'TrayClaw' });
    const json = { 'content-type': 'application/json', 'content-encoding': 'gzip', accept: 'application/json' };
    const request = { url, method: 'POST', headers: { ...given, ...json }, body: gzipSync(JSON.stringify(body)), mayFollow: () => false };
    return deliveryOf(await http.fetch(request, signal));
  } catch (cause) {
    const error = toAppError(cause);
    return { kind: 'later', why: isAppError(cause) ? `could not be sent to: ${error.message}` : 'could not be reached.', waitMs: null };
  }
}

const whyNot: Readonly<Record<number, string>> = {
  401: 'refused the keys (401).',
  403: 'refused the keys (403).',
  415: 'does not take JSON with gzip (415): name an endpoint that does, such as an OpenTelemetry collector.',
};

function deliveryOf(answer: FetchAnswer): Delivery {
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'taken', rejectedSpans: rejectedIn(answer) };
  const why = whyNot[status] ?? `answered ${status}${reasonIn(answer)}.`;
  if (mendable.has(status) || status >= 500 || status < 400)
    return { kind: 'later', why, waitMs: retryAfter(answer.headers['retry-after']) };
  return { kind: 'refused' };
}

/** The spans that a partial success of OTLP rejects. They must not be sent again. */
function rejectedIn({ body }: FetchAnswer): number {
  const rejected = Number(valueAt(jsonIn(body.toString('utf8')), 'partialSuccess.rejectedSpans') ?? 0);
  return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
}

function reasonIn({ body }: FetchAnswer): string {
  const message = valueAt(jsonIn(body.toString('utf8')), 'message');
  return typeof message === 'string' && message !== '' ? ` (${message.slice(0, 200)})` : '';
}

function retryAfter(header: string | undefined): number | null {
  const seconds = Number(header);
  return header === undefined || !Number.isFinite(seconds) || seconds < 0 ? null : Math.min(seconds * 1000, RETRY_AFTER_MAX_MS);
}
