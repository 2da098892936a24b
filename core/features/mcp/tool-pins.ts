// The tools of a server as they are stored and shown: bounded, without invisible characters, and each pinned by a hash of everything that
// could influence a model or a person. Pure.

import { hash } from 'node:crypto';
import { canonicalJson, isPlainObject } from '../../base/json.ts';
import { revealed } from '../../base/visible-text.ts';
import { AppError } from '../../contracts/errors.ts';
import type { McpServerView, McpTool } from '../../contracts/features/mcp.ts';

/** A tool as a server lists it, not validated yet. */
export interface ListedMcpTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  readonly execution?: { readonly taskSupport?: string | undefined } | undefined;
  readonly annotations?: { readonly title?: string | undefined; readonly destructiveHint?: boolean | undefined } | undefined;
}

export interface ReadTool extends McpTool {
  /** The name by which the model calls the tool. */
  readonly offeredAs: string;
  /** Why the tool can never be used; null if it can. */
  readonly problem: string | null;
  /** The tool runs as a task. Not part of the pin, because its effect is the same. */
  readonly isTask?: boolean;
}

export const toolsMax = 200;
const NAME_CHARS_MAX = 200;
const DESCRIPTION_CHARS_MAX = 4000;
const TEXT_CHARS_MAX = 1000;
const SCHEMA_CHARS_MAX = 64 * 1024;
const ALL_CHARS_MAX = 512 * 1024;
const DEPTH_MAX = 24;
const NODES_MAX = 5000;
const OFFERED_PATTERN = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const OFFERED_CHARS_MAX = 64;

/** Reads each tool with its pin. Tools after the first 200 are dropped. */
export function readTools(server: string, listed: readonly ListedMcpTool[]): readonly ReadTool[] {
  const taken = new Set<string>();
  let chars = 0;
  return listed.slice(0, toolsMax).map((tool) => {
    const read = readTool(server, tool);
    chars += read.description.length + JSON.stringify(read.schema).length;
    const problem = read.problem ?? (taken.has(read.offeredAs) ? 'Another tool of this server has the same name.' : tooMuch(chars));
    taken.add(read.offeredAs);
    return problem === read.problem ? read : { ...read, problem, schema: {} };
  });
}

function tooMuch(chars: number): string | null {
  return chars > ALL_CHARS_MAX ? `The tools of this server take more than ${ALL_CHARS_MAX / 1024} KB.` : null;
}

function readTool(server: string, tool: ListedMcpTool): ReadTool {
  const isDestructive = tool.annotations?.destructiveHint === true;
  const problem = problemOf(tool);
  const about = {
    name: tool.name.slice(0, NAME_CHARS_MAX),
    description: shown(tool.description ?? tool.title ?? '', DESCRIPTION_CHARS_MAX),
    isDestructive,
    offeredAs: offeredName(server, tool.name),
    problem,
    isTask: tool.execution?.taskSupport === 'optional' || tool.execution?.taskSupport === 'required',
  };
  if (problem !== null) return { ...about, schema: {}, sha256: hash('sha256', `unusable ${tool.name}`, 'hex') };
  const pinned = canonicalJson({
    name: tool.name,
    title: tool.title ?? tool.annotations?.title ?? '',
    description: tool.description ?? '',
    schema: tool.inputSchema ?? {},
    isDestructive,
  });
  return { ...about, schema: cleaned(tool.inputSchema) as Record<string, unknown>, sha256: hash('sha256', pinned, 'hex') };
}

function problemOf({ name, description = '', inputSchema }: ListedMcpTool): string | null {
  if (name === '' || name.length > NAME_CHARS_MAX) return `A name has 1 to ${NAME_CHARS_MAX} characters.`;
  if (description.length > DESCRIPTION_CHARS_MAX * 4) return 'Its description is far too long.';
  if (!isPlainObject(inputSchema)) return 'It has no schema for its arguments.';
  const budget = { nodes: 0 };
  if (!fits(inputSchema, 0, budget)) return 'The schema of its arguments is nested too deeply or has too many parts.';
  return JSON.stringify(inputSchema).length > SCHEMA_CHARS_MAX
    ? `The schema of its arguments takes more than ${SCHEMA_CHARS_MAX / 1024} KB.`
    : null;
}

function fits(value: unknown, depth: number, budget: { nodes: number }): boolean {
  if (depth > DEPTH_MAX || ++budget.nodes > NODES_MAX) return false;
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every((below) => fits(below, depth + 1, budget));
}

/** Cleans the texts for people and models inside the schema. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, below]): [string, unknown][] => {
    if (key === '$comment') return [];
    const isText = (key === 'description' || key === 'title') && typeof below === 'string';
    return [[key, isText ? shown(below, TEXT_CHARS_MAX) : cleaned(below)]];
  });
  return Object.fromEntries(entries);
}

/** Makes invisible characters visible and truncates. */
export function shown(text: string, charsMax: number): string {
  const cut = text.length > charsMax ? `${text.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
  return revealed(cut.replaceAll(/\r\n?/g, '\n').replaceAll('\t', ' '));
}

/** The names of server and tool in a form that every model server accepts. Tools of different servers never share a name. */
export function offeredName(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  if (OFFERED_PATTERN.test(plain)) return plain;
  const mark = hash('sha256', tool, 'hex').slice(0, 8);
  const safe = tool.replaceAll(/[^A-Za-z0-9_-]+/g, '_');
  return `${server}__${safe.slice(0, OFFERED_CHARS_MAX - server.length - 3 - mark.length)}-${mark}`;
}

type ToolView = McpServerView['tools'][number];

/** The tools as last listed, compared with the approved ones; `listed` is null until the server was reached. */
export function toolViews(server: string, listed: readonly ReadTool[] | null, approved: readonly McpTool[]): ToolView[] {
  const pins = new Map(approved.map((tool) => [tool.name, tool]));
  const known = approved.map((tool): ReadTool => ({ ...tool, offeredAs: offeredName(server, tool.name), problem: null }));
  const stateOf = (tool: ReadTool): ToolView['state'] => {
    if (tool.problem !== null) return 'refused';
    const pin = pins.get(tool.name);
    return pin === undefined ? 'new' : pin.sha256 === tool.sha256 ? 'approved' : 'changed';
  };
  const viewOf = (
    { name, offeredAs, description, schema, isDestructive, sha256, problem }: ReadTool,
    state: ToolView['state'],
  ): ToolView => ({
    name: offeredAs,
    title: shown(name, 200),
    description,
    schema,
    isDestructive,
    sha256,
    state,
    problem,
  });
  const gone = listed === null ? [] : known.filter(({ name }) => !listed.some((one) => one.name === name));
  return [...(listed ?? known).map((tool) => viewOf(tool, stateOf(tool))), ...gone.map((tool) => viewOf(tool, 'gone'))];
}

/** An approval covers the definition of the server and each of its tools. */
export function approvalHash(definition: string, tools: readonly Pick<McpTool, 'sha256'>[]): string {
  return hash('sha256', [definition, ...tools.map(({ sha256 }) => sha256).sort()].join('\n'), 'hex');
}

export function withheld(server: string, { name }: McpTool): AppError {
  return new AppError(
    'tool_failed',
    `The tool ${shown(name, 80)} of the MCP server ${server} is not as it was approved, and did not run.`,
    {
      hint: `A person has to look at it: trayclaw mcp test ${server}`,
    },
  );
}
