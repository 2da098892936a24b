// A receiver of traces on loopback, as strict as the protocol: OTLP/HTTP JSON as opentelemetry-proto defines it, ids in hex, 64-bit numbers
// as strings, no unknown fields; and Langfuse's two paths with its keys. It stores accepted spans and can simulate failures. For tests
// only.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod';
import { parseJson } from '../../core/base/json.ts';

const int64 = z.string().regex(/^(?:0|-?[1-9]\d{0,18})$/);
const nanos = z.string().regex(/^\d{19}$/);
/** Protocol buffers take only text that is valid in UTF-8. */
const text = z.string().refine((one) => one.isWellFormed(), 'half of a character');
const valueSchema = z.union([
  z.strictObject({ stringValue: text }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: int64 }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(z.strictObject({ stringValue: text })) }) }),
]);
/** Receivers store an attribute with the type of its first value. These are doubles. */
const doubles = new Set(['gen_ai.response.time_to_first_chunk', 'gen_ai.evaluation.score.value', 'trayclaw.cost.usd']);
const attributesSchema = z
  .array(z.strictObject({ key: z.string().min(1), value: valueSchema }))
  .refine((all) => all.every(({ key, value }) => !doubles.has(key) || 'doubleValue' in value), 'a double is sent as an integer')
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, 'an attribute is given twice');
const resourceSchema = z.strictObject({ attributes: attributesSchema });
const scopeSchema = z.strictObject({ name: z.string(), version: z.string() });
const spanSchema = z
  .strictObject({
    traceId: z.string().regex(/^[0-9a-f]{32}$/),
    spanId: z.string().regex(/^[0-9a-f]{16}$/),
    parentSpanId: z
      .string()
      .regex(/^[0-9a-f]{16}$/)
      .optional(),
    name: text.min(1),
    kind: z.number().int().min(1).max(5),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    attributes: attributesSchema,
    events: z.array(z.strictObject({ timeUnixNano: nanos, name: z.string().min(1), attributes: attributesSchema })).optional(),
    status: z.strictObject({ code: z.number().int().min(0).max(2).optional(), message: text.optional() }),
  })
  .refine(({ startTimeUnixNano: start, endTimeUnixNano: end }) => BigInt(start) <= BigInt(end), 'it ends before it starts');
const tracesSchema = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: resourceSchema,
        scopeSpans: z.array(z.strictObject({ scope: scopeSchema, schemaUrl: z.url(), spans: z.array(spanSchema).min(1) })),
      }),
    )
    .min(1),
});
export type ReceivedSpan = z.infer<typeof spanSchema>;

const pointSchema = { attributes: attributesSchema, startTimeUnixNano: nanos, timeUnixNano: nanos };
const histogramSchema = z
  .strictObject({ ...pointSchema, count: int64, sum: z.number(), bucketCounts: z.array(int64), explicitBounds: z.array(z.number()) })
  .refine(({ bucketCounts, explicitBounds }) => bucketCounts.length === explicitBounds.length + 1, 'one bucket more than bounds')
  .refine(({ bucketCounts, count }) => bucketCounts.reduce((sum, n) => sum + Number(n), 0) === Number(count), 'the buckets do not add up');
const metricSchema = z.union([
  z.strictObject({
    name: z.string(),
    unit: z.string(),
    histogram: z.strictObject({ aggregationTemporality: z.literal([1, 2]), dataPoints: z.array(histogramSchema) }),
  }),
  z.strictObject({
    name: z.string(),
    unit: z.string(),
    sum: z.strictObject({
      aggregationTemporality: z.literal([1, 2]),
      isMonotonic: z.boolean(),
      dataPoints: z.array(z.strictObject({ ...pointSchema, asDouble: z.number() })),
    }),
  }),
]);
const metricsSchema = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({
      resource: resourceSchema,
      scopeMetrics: z.array(z.strictObject({ scope: scopeSchema, schemaUrl: z.url(), metrics: z.array(metricSchema) })),
    }),
  ),
});
const scoreSchema = z.strictObject({
  id: z.string(),
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  name: z.string(),
  value: z.number(),
  dataType: z.literal(['NUMERIC', 'BOOLEAN', 'CATEGORICAL']),
  comment: z.string().optional(),
});

interface Failure {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export class TraceReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly metrics: z.infer<typeof metricSchema>[] = [];
  readonly scores: z.infer<typeof scoreSchema>[] = [];
  /** Protocol violations. A test that expects well-formed requests asserts that this is empty. */
  readonly violations: string[] = [];
  requests = 0;
  /** The failure with which the next requests are answered. */
  failing: Failure | null = null;
  /** A batch that contains a span with this name is rejected. */
  refusedName: string | null = null;
  /** The number of spans of each batch that are dropped, as a partial success. */
  rejectedSpans = 0;
  readonly #server: Server;
  readonly #authorization: string | null;

  private constructor(authorization: string | null) {
    this.#authorization = authorization;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** Requests without this `authorization` are refused with 401. */
  static async start(authorization: string | null = null): Promise<TraceReceiver> {
    const receiver = new TraceReceiver(authorization);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const send = (status: number, headers: Readonly<Record<string, string>> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(status === 200 ? this.#success() : '{}');
    };
    if (this.failing !== null) return send(this.failing.status, this.failing.headers);
    if (this.#authorization !== null && request.headers.authorization !== this.#authorization) return send(401);
    if (request.method !== 'POST' || request.headers['content-type'] !== 'application/json') return send(415);
    const bytes = Buffer.concat(parts);
    const body = parseJson((request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8'));
    send(body.ok ? this.#take(request.url ?? '', body.value) : 400);
  }

  #take(path: string, body: unknown): number {
    if (path.endsWith('/v1/traces')) return this.#takeTraces(body);
    if (path.endsWith('/v1/metrics')) {
      const parsed = this.#parse(metricsSchema, body);
      this.metrics.push(...(parsed?.resourceMetrics ?? []).flatMap(({ scopeMetrics }) => scopeMetrics).flatMap(({ metrics }) => metrics));
      return parsed === null ? 400 : 200;
    }
    if (path !== '/api/public/scores') return 404;
    const score = this.#parse(scoreSchema, body);
    if (score === null) return 400;
    this.scores.push(score);
    return 200;
  }

  #success(): string {
    const rejectedSpans = String(this.rejectedSpans);
    return JSON.stringify({ partialSuccess: this.rejectedSpans === 0 ? {} : { rejectedSpans, errorMessage: 'too long' } });
  }

  #takeTraces(body: unknown): number {
    const parsed = this.#parse(tracesSchema, body);
    if (parsed === null) return 400;
    const spans = parsed.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans).flatMap((scoped) => scoped.spans);
    if (spans.some(({ name }) => name === this.refusedName)) return 400;
    const ids = new Set(spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
    if (ids.size < spans.length) this.violations.push('two spans have one id');
    this.spans.push(...spans);
    return 200;
  }

  #parse<T>(schema: z.ZodType<T>, body: unknown): T | null {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    this.violations.push(z.prettifyError(parsed.error));
    return null;
  }
}
