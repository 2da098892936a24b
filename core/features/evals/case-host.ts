// Runs one case: the whole program on a temporary data folder, with the person's models, policy and prompts. Deletes the folder afterwards,
// and the folders that killed runs left behind.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { leftFolders } from '../../store/home/home.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { AppError } from '../../contracts/errors.ts';
import type { HostedClaw } from '../../contracts/claw.ts';
import type { Config, ConfigInput } from '../../contracts/config.ts';
import type { Usage } from '../../contracts/llm.ts';
import type { AskResult } from '../../contracts/op-results.ts';
import type { OwnPromptName } from '../../contracts/own-prompts.ts';
import type { ToolDefinition } from '../../contracts/tools.ts';
import type { Outcome } from './assertions.ts';
import type { SendableTool } from '../../hands/tools/tools.ts';
import { declaredTool } from './declared-tool.ts';
import type { SuiteCase } from './suite-file.ts';

export interface HostOptions {
  readonly home: string;
  readonly isThrowaway: true;
  readonly sharedTools: Map<string, SendableTool>;
  readonly config: ConfigInput;
  readonly tools: readonly ToolDefinition[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly prompts: Readonly<Partial<Record<OwnPromptName, string>>>;
}

/** Starts the program on a data folder. */
export type StartProgram = (options: HostOptions) => Promise<HostedClaw>;

export interface CaseHostDeps {
  readonly start: StartProgram;
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly prompts: HostOptions['prompts'];
  readonly temporaryFolder: string;
  /** The folder of a skill that the cases test. The temporary program has the skill and trusts it. */
  readonly skill?: string | undefined;
  resolveSecret(ref: string): Promise<string>;
}

export interface CaseRun {
  readonly outcome: Outcome;
  readonly usage: Usage;
  readonly requests: number;
  readonly error?: string;
}

const references = /^(?:keychain|vault|env|file):/;
const APPROVALS_MAX = 100;
const FILES_MAX = 100;
const FILE_CHARS_MAX = 20_000;
const PREFIX = 'trayclaw-eval-';

/** The hosts of one run. They share a template data folder, so that the schema is created only once. */
export class CaseHosts {
  readonly #deps: CaseHostDeps;
  readonly #root: string;
  readonly #keys = new Map<string, string>();
  readonly #environment: Record<string, string | undefined>;
  readonly #sharedTools = new Map<string, SendableTool>();
  #template: Promise<string> | null = null;
  #next = 0;

  constructor(deps: CaseHostDeps) {
    this.#deps = deps;
    const temporary = realpathSync(deps.temporaryFolder);
    // Left behind by runs whose process was killed.
    for (const folder of leftFolders(temporary, PREFIX)) rmSync(folder, { recursive: true, force: true });
    this.#root = mkdtempSync(join(temporary, `${PREFIX}${process.pid}-`));
    this.#environment = { ...deps.environment };
  }

  /** Fails with a store error, or with `cancelled` once the signal aborts. An error within the case is part of its outcome. */
  async run(test: SuiteCase, model: string, signal: AbortSignal): Promise<CaseRun> {
    const { files, budget } = test;
    const config = await this.#configFor(model);
    this.#template ??= this.#makeTemplate(config);
    const home = join(this.#root, String((this.#next += 1)));
    cpSync(await this.#template, home, { recursive: true });
    writeWorkspace(join(home, 'workspace'), files);
    const claw = await this.#start(home, { ...config, budget: { ...config.budget, ...budget } }, test.tools.map(declaredTool));
    try {
      if (this.#deps.skill !== undefined) await claw.op('skill.trust', { folder: this.#deps.skill });
      for (const text of test.before) await say(claw, text, test.approve, signal);
      const startedMs = performance.now();
      const end = await say(claw, test.input, test.approve, signal);
      const tookMs = performance.now() - startedMs;
      return await readRun(claw, end, tookMs, writtenIn(join(home, 'workspace'), files));
    } finally {
      await claw.close();
      rmSync(home, { recursive: true, force: true });
    }
  }

  dispose(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #makeTemplate(config: ConfigInput): Promise<string> {
    const home = join(this.#root, 'template');
    const claw = await this.#start(home, config);
    await claw.close();
    return home;
  }

  #start(home: string, config: ConfigInput, tools: readonly ToolDefinition[] = []): Promise<HostedClaw> {
    return this.#deps.start({
      home,
      isThrowaway: true,
      sharedTools: this.#sharedTools,
      config,
      tools,
      environment: this.#environment,
      prompts: this.#deps.prompts,
    });
  }

  /** Resolves secrets here and passes them on in the environment, because the vault belongs to the person's data folder. */
  async #configFor(model: string): Promise<ConfigInput> {
    const { providers, models, policy, sandbox, limits, tools, budget, safety } = this.#deps.config;
    const own = JSON.parse(JSON.stringify({ providers, policy, sandbox, limits, tools, budget, safety })) as ConfigInput;
    for (const ref of referencesIn(own.providers)) {
      if (!this.#keys.has(ref)) {
        const name = `TRAYCLAW_EVAL_KEY_${this.#keys.size + 1}`;
        this.#environment[name] = await this.#deps.resolveSecret(ref);
        this.#keys.set(ref, `env:${name}`);
      }
    }
    const handed = JSON.stringify(own.providers, (_key, value: unknown) =>
      typeof value === 'string' ? (this.#keys.get(value) ?? value) : value,
    );
    const { routes, retries, timeouts } = JSON.parse(JSON.stringify(models)) as NonNullable<ConfigInput['models']>;
    return {
      ...own,
      providers: JSON.parse(handed) as ConfigInput['providers'],
      models: {
        default: model,
        ...(routes === undefined ? {} : { routes }),
        ...(retries === undefined ? {} : { retries }),
        ...(timeouts === undefined ? {} : { timeouts }),
      },
      heartbeat: { everyMinutes: 0 },
      ...(this.#deps.skill === undefined ? {} : { skills: { folders: [this.#deps.skill] } }),
    };
  }
}

/** Every value of the providers that names a secret. */
function referencesIn(value: unknown): string[] {
  if (typeof value === 'string') return references.test(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => (key === 'baseUrl' || key === 'file' ? [] : referencesIn(below)));
}

function writeWorkspace(folder: string, files: SuiteCase['files']): void {
  makeFolders({ mkdirSync, statSync }, folder);
  for (const [path, content] of Object.entries(files)) {
    const target = resolve(folder, path);
    if (!isInside(target, folder) || target === folder)
      throw new AppError('invalid_params', `The file ${path} of a case leads out of its workspace.`);
    makeFolders({ mkdirSync, statSync }, dirname(target));
    writeFileSync(target, content);
  }
}

/** Each message starts a new session. */
async function say(claw: HostedClaw, text: string, approve: readonly string[], signal: AbortSignal): Promise<AskResult> {
  const { turnId } = await claw.op('message.send', { text });
  const stop = (): void => void claw.op('turn.cancel', { turnId }).catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  const end = await settle(claw, turnId, approve);
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  return end;
}

/** Files that the case created or changed; null for a deleted file. */
function writtenIn(folder: string, before: SuiteCase['files']): Outcome['files'] {
  const now = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || now.size >= FILES_MAX) continue;
    const path = join(entry.parentPath, entry.name);
    now.set(relative(folder, path).replaceAll('\\', '/'), readFileSync(path, 'utf8').slice(0, FILE_CHARS_MAX));
  }
  const gone = Object.keys(before).filter((path) => !now.has(path));
  const written = [...now].filter(([path, text]) => before[path] !== text);
  return Object.fromEntries([...written, ...gone.map((path) => [path, null] as const)]);
}

/** Approves calls of the tools that the case names and denies all others, because no person answers. */
async function settle(claw: HostedClaw, turnId: string, approve: readonly string[]): Promise<AskResult> {
  for (let asked = 0; ; asked++) {
    const result = await claw.op('turn.wait', { turnId });
    if (result.status !== 'waiting') return result;
    if (asked >= APPROVALS_MAX) throw new AppError('tool_failed', `The case asked for more than ${APPROVALS_MAX} approvals.`);
    for (const { approvalId, tool } of result.pending ?? []) {
      await claw.op('approval.decide', { approvalId, decision: approve.includes(tool) ? 'approve' : 'deny' });
    }
  }
}

async function readRun(claw: HostedClaw, end: AskResult, tookMs: number, files: Outcome['files']): Promise<CaseRun> {
  const { calls } = await claw.op('turn.get', { turnId: end.turnId });
  const { rows } = await claw.op('usage.get', { by: 'model' });
  const { costUsd, ...usage } = end.usage;
  return {
    outcome: {
      status: end.status === 'done' ? 'done' : (end.error?.code ?? end.status),
      text: end.text,
      calls: calls.map(({ tool, args }) => ({ tool, args })),
      files,
      costUsd,
      tookMs,
    },
    usage,
    requests: rows.reduce((sum, row) => sum + row.modelCalls, 0),
    ...(end.status === 'done' ? {} : { error: end.error?.message ?? `The turn ended: ${end.status}.` }),
  };
}
