// The operations on models, settings and secrets as commands. Plain data; see command-form.ts.

import type { OpForms } from './command-form.ts';

export const settingForms = {
  'model.list': {
    about: 'list the models that can be used, as the servers of your providers offer them',
    commands: { models: { options: { provider: 'those of one provider' }, example: '--provider demo' } },
  },
  'model.route': {
    about: 'show which model a message would go to, and why; asks no model',
    commands: {
      'models route': {
        takes: ['text...'],
        options: { model: 'a route, such as route/everyday, or a model; the default unless given' },
        example: 'Sum up my notes',
      },
    },
  },
  'model.test': {
    about: 'test a model: its key, name, address and tools; counts as usage',
    forPerson: true,
    doneWhen: 'ok',
    commands: { 'model test': { takes: ['model'], example: 'demo/offline' } },
  },
  'model.opinion': {
    about: 'ask another model, or a panel, about the answer of a turn; a judge compares',
    forPerson: true,
    live: true,
    commands: {
      'model opinion': {
        takes: ['turnId'],
        options: { panel: 'a panel of models.panels; the first one, or another model, when left out' },
        example: 'trn_01JD7Q --panel careful',
      },
    },
  },
  'model.presets': { about: 'list well-known providers and their addresses', commands: { 'model presets': { example: '' } } },
  'engine.get': {
    about: 'show whether the engine for GGUF files is installed, and what installing it downloads',
    commands: { 'model engine': { example: '' } },
  },
  'engine.install': { about: 'install the engine for GGUF files; a large download', forPerson: true },
  'engine.remove': {
    about: 'remove the engine for GGUF files; your model files stay',
    forPerson: true,
    commands: { 'model remove-engine': { confirm: 'Remove the engine?', example: '--yes' } },
  },
  'provider.try': { about: 'try a provider without writing anything', forPerson: true },
  'provider.add': { about: 'add a provider with its key; all or nothing', forPerson: true },
  'config.get': {
    about: 'show the settings that hold',
    commands: {
      'config get': { example: '' },
      'policy show': { about: 'show the mode, rules, preset permissions and limits', example: '' },
    },
  },
  'config.set': {
    about: 'change one setting, such as models.default ollama/qwen3; null removes the setting',
    forPerson: true,
    commands: {
      'config set': {
        about: 'change one setting, such as models.default ollama/qwen3; VALUE is YAML, null removes the setting',
        takes: ['key', ':value'],
        example: 'limits.steps 40',
      },
    },
  },
  'config.schema': { about: 'print the JSON Schema of config.yaml', commands: { 'config schema': { example: '' } } },
  'secret.set': {
    about: 'store a secret in the keychain or the vault',
    forPerson: true,
    commands: {
      'secret set': {
        about: 'store a secret; the value is read from standard input or asked for',
        takes: ['name'],
        example: 'openai < key.txt',
      },
    },
  },
  'secret.list': { about: 'list the names of secrets', commands: { 'secret list': { example: '' } } },
  'secret.delete': {
    about: 'delete a secret',
    forPerson: true,
    doneWhen: 'deleted',
    commands: { 'secret delete': { takes: ['name'], example: 'openai' } },
  },
  'secret.status': { about: 'show where secrets are kept and whether it is unlocked', commands: { 'secret status': { example: '' } } },
  'secret.unlock': { about: 'unlock the encrypted vault, or create it', commands: { 'secret unlock': { example: '< passphrase.txt' } } },
} as const satisfies OpForms<'model' | 'engine' | 'provider' | 'config' | 'secret'>;
