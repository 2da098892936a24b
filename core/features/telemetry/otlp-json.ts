// Encodes spans and sums as OTLP/HTTP JSON. Ids are derived from those of the log, so a turn that is sent twice has the same spans. Pure.
// Source: opentelemetry-proto 1.x, its JSON mapping (ids in hex, 64-bit integers as strings, enums as numbers).

import { createHash } from 'node:crypto';
import { doubles, metrics, names, schemaUrl } from './conventions.ts';
import type { Attributes, AttributeValue, Span, TurnTrace } from './turn-spans.ts';

export interface Resource {
  readonly version: string;
  /** Distinguishes the data folders of one machine without revealing their paths. */
  readonly instance: string;
}

const scope = { name: 'trayclaw', version: '1' };
const kinds = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
const DELTA = 1;
/** Upper bounds of the histogram buckets, as the GenAI conventions recommend: tokens, and seconds. */
const tokenBounds = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
const secondBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

export function traceIdOf(turnId: string): string {
  return hexOf(turnId, 32);
}

export function tracesJson(traces: readonly TurnTrace[], resource: Resource) {
  const spans = traces.flatMap((trace) => trace.spans.map((span) => spanJson(span, traceIdOf(trace.rootTurnId))));
  return { resourceSpans: [{ resource: resourceJson(resource), scopeSpans: [{ scope, schemaUrl, spans }] }] };
}

/** Tokens, durations and costs of the model calls in these turns, as deltas since the last export. Null without model calls. */
export function metricsJson(traces: readonly TurnTrace[], resource: Resource) {
  const calls = traces.flatMap(({ spans }) => spans).filter(({ attributes }) => attributes[names.operation] === 'chat');
  if (calls.length === 0) return null;
  const named = (call: Span, more: Attributes = {}): Attributes => ({ ...pick(call.attributes), ...more });
  const tokens = calls.flatMap((call) => [
    { at: named(call, { [names.tokenType]: 'input' }), value: numberOf(call, names.inputTokens), call },
    { at: named(call, { [names.tokenType]: 'output' }), value: numberOf(call, names.outputTokens), call },
  ]);
  const seconds = calls.map((call) => ({ at: named(call), value: (call.endMs - call.startMs) / 1000, call }));
  const costs = calls.map((call) => ({ at: named(call), value: numberOf(call, 'trayclaw.cost.usd'), call }));
  const all = [
    { name: metrics.tokens, unit: '{token}', histogram: { aggregationTemporality: DELTA, dataPoints: histograms(tokens, tokenBounds) } },
    { name: metrics.duration, unit: 's', histogram: { aggregationTemporality: DELTA, dataPoints: histograms(seconds, secondBounds) } },
    { name: metrics.costUsd, unit: 'USD', sum: { aggregationTemporality: DELTA, isMonotonic: true, dataPoints: sums(costs) } },
  ];
  return { resourceMetrics: [{ resource: resourceJson(resource), scopeMetrics: [{ scope, schemaUrl, metrics: all }] }] };
}

interface Measured {
  readonly at: Attributes;
  readonly value: number;
  readonly call: Span;
}

function histograms(measured: readonly Measured[], explicitBounds: readonly number[]) {
  return grouped(measured).map(({ values, ...point }) => {
    const bucketCounts = Array.from({ length: explicitBounds.length + 1 }, () => 0);
    for (const value of values) {
      const bucket = explicitBounds.findIndex((bound) => value <= bound);
      const index = bucket === -1 ? explicitBounds.length : bucket;
      bucketCounts[index] = (bucketCounts[index] ?? 0) + 1;
    }
    const sum = values.reduce((total, value) => total + value, 0);
    return { ...point, count: String(values.length), sum, bucketCounts: bucketCounts.map(String), explicitBounds };
  });
}

function sums(measured: readonly Measured[]) {
  return grouped(measured).map(({ values, ...point }) => ({ ...point, asDouble: values.reduce((total, value) => total + value, 0) }));
}

function grouped(measured: readonly Measured[]) {
  const groups = Map.groupBy(measured, ({ at }) => JSON.stringify(at));
  return [...groups.values()].map((group) => ({
    attributes: attributesJson(group[0]?.at ?? {}),
    startTimeUnixNano: nanos(Math.min(...group.map(({ call }) => call.startMs))),
    timeUnixNano: nanos(Math.max(...group.map(({ call }) => call.endMs))),
    values: group.map(({ value }) => value),
  }));
}

function pick(attributes: Attributes): Attributes {
  const kept = [names.operation, names.provider, names.requestModel, names.errorType];
  return Object.fromEntries(kept.map((name) => [name, attributes[name]]));
}

function numberOf({ attributes }: Span, name: string): number {
  const value = attributes[name];
  return typeof value === 'number' ? value : 0;
}

function spanJson(span: Span, traceId: string) {
  return {
    traceId,
    spanId: hexOf(span.key, 16),
    ...(span.parent === null ? {} : { parentSpanId: hexOf(span.parent, 16) }),
    name: textOf(span.name),
    kind: kinds[span.kind],
    startTimeUnixNano: nanos(span.startMs),
    endTimeUnixNano: nanos(Math.max(span.startMs, span.endMs)),
    attributes: attributesJson(span.attributes),
    ...(span.events === undefined ? {} : { events: span.events.map(eventJson) }),
    status: span.error === null ? {} : { code: STATUS_ERROR, message: textOf(span.error) },
  };
}

function eventJson({ name, atMs, attributes }: NonNullable<Span['events']>[number]) {
  return { timeUnixNano: nanos(atMs), name, attributes: attributesJson(attributes) };
}

function resourceJson({ version, instance }: Resource) {
  return { attributes: attributesJson({ 'service.name': 'trayclaw', 'service.version': version, 'service.instance.id': instance }) };
}

function attributesJson(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: valueJson(key, value) }],
  );
}

/** An attribute has one type in all spans, because receivers refuse or drop one whose type changes. */
function valueJson(key: string, value: AttributeValue) {
  if (typeof value === 'string') return { stringValue: textOf(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && !doubles.has(key) ? { intValue: String(value) } : { doubleValue: value };
  }
  return { arrayValue: { values: value.map((one) => ({ stringValue: textOf(one) })) } };
}

/** Half of a character, left where a text was cut, is not valid in UTF-8. */
function textOf(text: string): string {
  return text.toWellFormed();
}

function nanos(atMs: number): string {
  return String(BigInt(Math.round(atMs)) * 1_000_000n);
}

function hexOf(key: string, digits: number): string {
  return createHash('sha256').update(key).digest('hex').slice(0, digits);
}
