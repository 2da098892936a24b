// Makes one well-formed result from any outcome of a run: limits the text for the model and stores the whole in an artifact.

import { hash } from 'node:crypto';
import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import { isAppError } from '../../contracts/errors.ts';
import { isPlainObject } from '../../base/json.ts';
import type { ArtifactRef, ArtifactSink, TaintSource, ToolContext, ToolOutcome, ToolResult } from '../../contracts/tools.ts';
import { artifactRefSchema, taintSourceSchema } from '../../contracts/tools.ts';
import { cutEnd, cutMiddle, formatBytes, isLongerThan } from './bound-text.ts';
import type { RaceEnd } from './race-run.ts';

export interface HostedResult {
  readonly outcome: Extract<ToolOutcome, 'ok' | 'error' | 'cancelled' | 'timeout' | 'unknown'>;
  readonly forModel: Redacted;
  readonly forUser: Redacted;
  readonly silent: boolean;
  readonly isAsync: boolean;
  /** Settles when the work of an asynchronous call is over. */
  readonly ended?: Promise<unknown>;
  readonly artifacts: readonly ArtifactRef[];
  /** Untrusted sources that the tool named, whatever the outcome. */
  readonly untrusted: readonly TaintSource[];
  readonly fetched?: TaintSource;
  readonly tookMs: number;
  /** True if the tool itself reported its end; false if its run was aborted or threw. */
  readonly isOwnEnd?: boolean;
  /** SHA-256 (hex) of the outcome and the whole text for the model, before any cut. */
  readonly resultHash: string;
}

export interface BoundOptions {
  readonly outputBytesMax: number;
  readonly artifacts: ArtifactSink;
  redact(text: string): Redacted;
  onSpillFailure(cause: unknown): void;
}

const NOTE_BYTES_MAX = 300;

/** Converts the end of a run to a result of the tool; an invalid return value becomes an error that names the problem. */
export function settleEnd(end: RaceEnd, toolName: string, timeoutMs: number): ToolResult {
  switch (end.kind) {
    case 'returned':
      try {
        return wellFormed(end.value, toolName);
      } catch (cause) {
        // A getter or proxy created by the tool threw while its value was read.
        return { forModel: describeThrown(cause, toolName), isError: true };
      }
    case 'threw':
      return { forModel: describeThrown(end.cause, toolName), isError: true, untrusted: isAppError(end.cause) ? end.cause.untrusted : [] };
    case 'timeout':
      return { forModel: `${toolName} timed out after ${formatSeconds(timeoutMs)} and was ended.`, endedBy: 'timeout' };
    case 'cancelled':
      return { forModel: `${toolName} was cancelled before it finished.`, endedBy: 'cancelled' };
  }
}

export function hostResult(
  result: ToolResult,
  toolName: string,
  context: ToolContext,
  options: BoundOptions,
): Omit<HostedResult, 'tookMs'> {
  const outcome = result.endedBy ?? (result.isError === true ? 'error' : 'ok');
  // Redacted before any cut, because half a secret is not recognised.
  const whole = result.forModel === '' ? stillRedacted('(no output)') : options.redact(result.forModel);
  const artifacts = [...(result.artifacts ?? [])];
  let forModel = whole;
  if (isLongerThan(whole, options.outputBytesMax)) {
    const spilled = spill(whole, toolName, context, options);
    if (spilled !== null) artifacts.push(spilled);
    forModel = cutWithNote(whole, spilled, options.outputBytesMax);
  }
  return {
    outcome,
    forModel,
    forUser: typeof result.forUser === 'string' ? stillRedacted(cutEnd(options.redact(result.forUser), options.outputBytesMax)) : forModel,
    silent: result.silent === true,
    isAsync: result.isAsync === true,
    ...(result.ended === undefined ? {} : { ended: result.ended }),
    artifacts,
    untrusted: result.untrusted ?? [],
    ...(result.fetched === undefined ? {} : { fetched: result.fetched }),
    resultHash: hash('sha256', `${outcome}\n${whole}`, 'hex'),
  };
}

/** "… 182 kB more in artifact NAME; read it with artifact_read …": describes the missing part and how to get it. */
export function missingNote(droppedBytes: number, ref: ArtifactRef | null): string {
  const size = formatBytes(droppedBytes);
  if (ref === null) return `… ${size} more were cut and could not be kept …`;
  return `… ${size} more in artifact ${ref.name}; read it with artifact_read {"artifact":"${ref.sha256}"} …`;
}

export function formatSeconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}

function cutWithNote(whole: Redacted, ref: ArtifactRef | null, bytesMax: number): Redacted {
  const { head, tail, droppedBytes } = cutMiddle(whole, Math.max(0, bytesMax - NOTE_BYTES_MAX));
  const gap = head === '' || head.endsWith('\n') ? '' : '\n';
  return stillRedacted(`${head}${gap}${missingNote(droppedBytes, ref)}\n${tail}`);
}

function spill(whole: Redacted, toolName: string, context: ToolContext, options: BoundOptions): ArtifactRef | null {
  try {
    return options.artifacts.put(whole, {
      name: `${toolName}-${context.callId}.txt`.slice(-120),
      mediaType: 'text/plain; charset=utf-8',
      callId: context.callId,
      sessionId: context.sessionId,
    });
  } catch (cause) {
    options.onSpillFailure(cause);
    return null;
  }
}

function wellFormed(value: unknown, toolName: string): ToolResult {
  if (!isPlainObject(value) || typeof value['forModel'] !== 'string') {
    return { forModel: `${toolName} gave back ${describeValue(value)} instead of a result.`, isError: true };
  }
  const { forUser, endedBy, artifacts } = value;
  return {
    forModel: value['forModel'],
    forUser: typeof forUser === 'string' ? forUser : null,
    silent: value['silent'] === true,
    isError: value['isError'] === true,
    isAsync: value['isAsync'] === true,
    ...(value['ended'] instanceof Promise ? { ended: value['ended'] } : {}),
    ...(endedBy === 'timeout' || endedBy === 'cancelled' || endedBy === 'unknown' ? { endedBy } : {}),
    ...(value['untrusted'] === undefined ? {} : { untrusted: sourcesOf(value['untrusted'], toolName) }),
    ...(value['fetched'] === undefined ? {} : { fetched: sourcesOf([value['fetched']], toolName)[0] ?? unnamed(toolName) }),
    ...(Array.isArray(artifacts) && artifacts.length > 0 ? { artifacts: artifacts.filter(isArtifactRef) } : {}),
  };
}

const SOURCES_MAX = 1_000;

/** If a tool names its sources in a wrong form, its result still counts as untrusted, with the tool's own name as the source. */
function sourcesOf(value: unknown, toolName: string): TaintSource[] {
  const unknown = unnamed(toolName);
  if (!Array.isArray(value)) return [unknown];
  const sources = value.slice(0, SOURCES_MAX).map((item: unknown) => {
    const parsed = taintSourceSchema.safeParse(item);
    return parsed.success ? parsed.data : unknown;
  });
  return value.length > SOURCES_MAX ? [...sources, unknown] : sources;
}

function unnamed(toolName: string): TaintSource {
  return { kind: 'mcp', where: toolName };
}

function isArtifactRef(value: unknown): value is ArtifactRef {
  return artifactRefSchema.safeParse(value).success;
}

function describeThrown(cause: unknown, toolName: string): string {
  if (isAppError(cause)) return cause.hint === undefined ? cause.message : `${cause.message} ${cause.hint}`;
  if (cause instanceof Error) return `${toolName} failed: ${cause.message === '' ? cause.name : cause.message}`;
  return `${toolName} failed: it threw ${describeValue(cause)}.`;
}

/** Describes any value, even one that cannot be converted to text. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === 'string') return JSON.stringify(cutEnd(value, 200));
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return `a ${typeof value}`;
}
