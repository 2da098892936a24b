// The facts of a command for the gate, and the repeated check right before it starts: the same command runs from the same programs and
// files, or nothing runs. Decides nothing about permission.

import { canonicalJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import { bindingsOf, readsOf, type CallFacts, type FactContext, type PathFact } from '../../contracts/tools.ts';
import type { CommandAnalysis, CommandAnalyst } from '../../guard/command/command.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { childEnvironment, type Environment } from './child-environment.ts';
import type { Runnable } from './shell-command.ts';

export interface ExecFactsOptions {
  readonly paths: CheckedPaths;
  readonly analyst: CommandAnalyst;
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  /** Why a command must not run with these files; null where nothing speaks against it. */
  readonly refuses?: (paths: readonly string[]) => string | null;
}

export interface CommandCall {
  readonly command: string;
  readonly cwd: string;
}

/** The checked form in which a command is started. */
export interface ConfirmedCommand {
  readonly cwd: string;
  readonly run: Runnable;
  /** Set in addition to the variables every child gets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Describes what it reads, if it is known to do nothing else. */
  readonly reads: string | null;
  /** It makes no sense where part of the machine is hidden. */
  readonly needsWholeMachine: boolean;
}

export class ExecFacts {
  readonly #options: ExecFactsOptions;
  readonly #shown = new WeakMap<object, CallFacts>();

  constructor(options: ExecFactsOptions) {
    this.#options = options;
  }

  /** The facts of a call, remembered by the call's own argument object. */
  of(args: object, call: CommandCall, context: FactContext): CallFacts {
    const { facts, cwd } = this.#look(call, context);
    this.#options.paths.remember(args, cwd);
    this.#shown.set(args, facts);
    return facts;
  }

  /** The current folder to run in. Fails with `tool_failed` if it is not the one in the facts. */
  folderOf(args: object, cwd: string, context: FactContext): string {
    return this.#options.paths.confirm(args, cwd, 'read', context).real;
  }

  /** The command to start now. Fails with `tool_failed` if it no longer matches the facts. */
  confirm(args: object, call: CommandCall, context: FactContext): ConfirmedCommand {
    const cwd = this.folderOf(args, call.cwd, context);
    const { facts, analysis } = this.#look(call, context);
    const shown = this.#shown.get(args);
    if (shown !== undefined && canonicalJson(shown) !== canonicalJson(facts)) {
      throw new AppError('tool_failed', 'What this command would run or touch has changed since it was checked.', {
        data: { hint: 'Nothing was done. Look again, then repeat the call.' },
      });
    }
    const { launch, fact } = analysis;
    return { cwd, run: launch, environment: launch.environment, reads: readsOf(fact), needsWholeMachine: analysis.needsWholeMachine };
  }

  #look(call: CommandCall, context: FactContext): { facts: CallFacts; cwd: PathFact; analysis: CommandAnalysis } {
    const { paths, analyst, environment, platform } = this.#options;
    const places = paths.commandPlaces(context);
    const cwd = places.given(call.cwd);
    const child = childEnvironment(environment, {}, platform);
    const analysis = analyst.analyse({ line: call.command, cwd: cwd.real, environment: child }, places);
    const refused = this.#refusal(analysis);
    const facts: CallFacts = {
      class: analysis.class,
      paths: [cwd, ...analysis.paths],
      command: analysis.fact,
      hosts: [...analysis.hosts],
      ...(analysis.risks.length === 0 ? {} : { risks: [...analysis.risks] }),
      ...(analysis.runsFetched ? { runsFetched: true as const } : {}),
      ...(analysis.does === null ? {} : { does: analysis.does }),
      ...(refused === null ? {} : { refused }),
    };
    return { facts, cwd, analysis };
  }

  /** A command known to only read may open any file. */
  #refusal({ fact, paths }: CommandAnalysis): string | null {
    const { refuses } = this.#options;
    if (refuses === undefined || readsOf(fact) !== null) return null;
    const parts =
      bindingsOf(fact)
        ?.filter(({ kind }) => kind !== 'environment')
        .map((binding) => binding.name) ?? [];
    return refuses([...paths.map(({ real }) => real), ...parts]);
  }
}
