// `models` and `model`: what configured providers and local servers offer, a live test of one, and well-known providers.

import type { Command } from 'commander';
import { TOOLS_MAX } from '../../contracts/llm.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { CommandContext, Run } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import { table } from './table.ts';

export function registerModels(program: Command, run: Run): void {
  program
    .command('models')
    .description('the models that can be used, as the servers of your providers list them')
    .option('--provider <name>', 'those of one provider')
    .action(({ provider }: { provider?: string }) => run((context) => listModels(context, provider)));
  const model = program.command('model').description('one model, and where models come from');
  model
    .command('test')
    .description('test a model: its key, name, address and tools')
    .argument('<model>')
    .action((ref: string) => run((context) => testModel(context, ref)));
  model
    .command('presets')
    .description('well-known providers and their addresses')
    .action(() => run((context) => context.runOp('model.presets', {}, { json: ({ presets }) => presets, human: describePresets })));
}

type Listing = OpResult<'model.list'>['models'][number];

function listModels(context: CommandContext, provider: string | undefined): Promise<number> {
  const wanted = (models: readonly Listing[]): readonly Listing[] =>
    provider === undefined ? models : models.filter((model) => model.provider === provider);
  return context.runOp('model.list', provider === undefined ? { look: true } : { provider }, {
    json: (result) => wanted(result.models),
    human: ({ models, failed, problem }) => {
      const rows = wanted(models).map((one) => [one.ref, one.isDefault ? 'yes' : '', size(one), price(one), source(one)]);
      const away = failed
        .filter((one) => provider === undefined || one.provider === provider)
        .map(({ provider: name, error }) => `${name}: ${error.message}${error.hint === undefined ? '' : ` ${error.hint}`}`);
      const missing = problem === null ? [] : [`${problem.message} ${problem.hint}`];
      const listed = table(['MODEL', 'DEFAULT', 'WINDOW', 'US$ PER MILLION, IN/OUT', 'SOURCE'], rows, 'No models were found.');
      return [listed, ...[...away, ...missing].map((line) => `\n${line}`)].join('\n');
    },
    exitCode: ({ failed }) =>
      provider !== undefined && failed.some((one) => one.provider === provider) ? exitCodes.failed : exitCodes.done,
  });
}

function size({ contextTokens }: Listing): string {
  return contextTokens >= 1_000_000 ? `${Math.round(contextTokens / 100_000) / 10}M` : `${Math.round(contextTokens / 1000)}k`;
}

function price({ inputUsdPerMillion: input, outputUsdPerMillion: output }: Listing): string {
  if (input === null || output === null) return 'unknown';
  return input === 0 && output === 0 ? 'free' : `${input} / ${output}`;
}

function source({ source: from, missing }: Listing): string {
  return missing === true ? `${from}, but its server does not offer it` : from;
}

function testModel(context: CommandContext, model: string): Promise<number> {
  return context.runOp(
    'model.test',
    { model },
    {
      human: ({ ok, tookMs, error, toolsLeftOut = 0 }) => {
        if (!ok) return [error?.message ?? '', error?.hint ?? ''].join('\n').trim();
        const leftOut = toolsLeftOut === 0 ? '' : ` ${toolsLeftOut} tools were left out: a request takes no more than ${TOOLS_MAX}.`;
        return `It answers (${tookMs} ms).${leftOut}`;
      },
      exitCode: ({ ok }) => (ok ? exitCodes.done : exitCodes.failed),
    },
  );
}

function describePresets({ presets }: OpResult<'model.presets'>): string {
  return table(
    ['NAME', 'PROVIDER', 'KEY VARIABLE', 'ADDRESS', 'KEYS'],
    presets.map((one) => [one.id, one.title, one.keyVariable ?? '-', one.baseUrl ?? '-', one.keyUrl ?? '-']),
    'None.',
  );
}
