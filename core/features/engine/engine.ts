// The engine for GGUF files as an optional part: its state, installing and removing it, and its health. Only a person installs it. The
// model module runs the models.

import type { EngineState } from '../../contracts/features/engine.ts';
import { AppError } from '../../contracts/errors.ts';
import { unwell, well, type Finding } from '../../contracts/health.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import { GuardedFetch } from '../../guard/egress/egress.ts';
import { OneOriginCheck } from '../../guard/safety/safety.ts';
import { engineFolder, engineTarget, engineVersion, installedEngine, readGgufHead, type EngineAccess } from '../../mind/llm/llm.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import type { PinnedPackage } from './pinned-packages.ts';

type Taken = Pick<Spine, 'home' | 'settings' | 'logger' | 'panic' | 'engine'>;

const registryUrl = 'https://registry.npmjs.org';
const limits = { connectMs: 15_000, headersMs: 30_000, idleMs: 30_000, totalMs: 15 * 60_000, bytesMax: 128 * 1024 * 1024 };

export const engine = defineBuiltInFeature({
  name: 'engine',
  create: (spine: Taken) => {
    const { home, settings, engine: access } = spine;
    const installer = new EngineInstaller(spine, access);
    const handlers = {
      'engine.get': () => installer.state(),
      'engine.install': (_params, { gone }) => installer.install(gone),
      'engine.remove': () => installer.remove(),
    } satisfies Partial<OpHandlers>;
    const check = (): Finding[] => {
      const { providers, embeddings } = settings.config;
      const files = Object.entries(providers).flatMap(([name, provider]) =>
        provider.kind === 'embedded' ? [[name, provider.file] as const] : [],
      );
      if (embeddings?.kind === 'embedded') files.push(['embeddings', embeddings.file]);
      return files.length === 0 ? [] : [checkEngine(home), ...files.map(([name, file]) => checkFile(name, access.pathOf(file)))];
    };
    return { handlers, checks: [{ check }] };
  },
});

function checkEngine(home: string): Finding {
  if (installedEngine(home) !== null) return well('engine', `The engine for GGUF files is installed (${engineVersion}).`);
  return unwell('engine', 'config.yaml names a GGUF file, and the engine is not installed.', 'Install it: trayclaw model install-engine');
}

function checkFile(name: string, path: string): Finding {
  const id = `model-file.${name}`;
  try {
    readGgufHead(path);
    return well(id, `${path} is a GGUF file.`);
  } catch (cause) {
    const { message, hint } = cause instanceof AppError ? cause : new AppError('internal', String(cause));
    return unwell(id, message, hint ?? 'Correct the path in config.yaml.');
  }
}

class EngineInstaller {
  readonly #spine: Taken;
  readonly #access: EngineAccess;
  #installing: Promise<EngineState> | null = null;
  #doneBytes = 0;

  constructor(spine: Taken, access: EngineAccess) {
    this.#spine = spine;
    this.#access = access;
  }

  async state(): Promise<EngineState> {
    const packages = await pinnedHere();
    const sum = (at: 2 | 3): number => packages.reduce((bytes, one) => bytes + one[at], 0);
    const { home } = this.#spine;
    const state =
      packages.length === 0
        ? 'unsupported'
        : this.#installing !== null
          ? 'installing'
          : installedEngine(home) === null
            ? 'absent'
            : 'installed';
    return {
      state,
      version: engineVersion,
      source: new URL(registryUrl).host,
      packages: packages.length,
      downloadBytes: sum(2),
      diskBytes: sum(3),
      doneBytes: this.#doneBytes,
      folder: engineFolder(home),
    };
  }

  /** Installs once at a time. A second caller waits for the running installation. */
  async install(signal: AbortSignal): Promise<EngineState> {
    if (this.#spine.panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped.');
    const state = await this.state();
    if (state.state === 'installed') return state;
    if (state.state === 'unsupported') {
      throw new AppError('tool_failed', `The engine has no prebuilt library for ${process.platform} on ${process.arch}.`, {
        hint: 'Use Ollama, LM Studio or llama-server for local models.',
      });
    }
    this.#installing ??= this.#run(AbortSignal.any([signal, this.#spine.panic.signal])).finally(() => {
      this.#installing = null;
      this.#doneBytes = 0;
    });
    await this.#installing;
    return this.state();
  }

  async remove(): Promise<EngineState> {
    if (this.#installing !== null) throw new AppError('conflict', 'The engine is being installed.');
    // Windows cannot remove a file that is in use.
    await this.#access.stop();
    const { removeEngine } = await import('./install-engine.ts');
    removeEngine(engineFolder(this.#spine.home));
    return this.state();
  }

  async #run(signal: AbortSignal): Promise<EngineState> {
    const { installEngine } = await import('./install-engine.ts');
    const http = new GuardedFetch({ judge: new OneOriginCheck(registryUrl), limits });
    await installEngine(
      {
        packages: await pinnedHere(),
        folder: engineFolder(this.#spine.home),
        registry: registryUrl,
        fetch: (url, called) => fetchArchive(http, url, called),
        onProgress: (doneBytes) => {
          this.#doneBytes = doneBytes;
        },
      },
      signal,
    );
    this.#spine.logger.log('info', 'the engine was installed', { version: engineVersion });
    return this.state();
  }
}

async function fetchArchive(http: GuardedFetch, url: string, signal: AbortSignal): Promise<Buffer> {
  const answer = await http.fetch({ url, headers: { accept: 'application/octet-stream' } }, signal);
  if (answer.status === 200 && !answer.isCut && answer.redirectTo === null) return answer.body;
  throw new AppError('fetch_failed', `${new URL(url).host} answered ${answer.status} for ${new URL(url).pathname}.`);
}

/** Empty if there is no library for this platform. The list is long and rarely needed, so it is loaded on demand. */
async function pinnedHere(): Promise<readonly PinnedPackage[]> {
  const target = engineTarget(process.platform, process.arch);
  if (target === null) return [];
  return (await import('./pinned-packages.ts')).pinnedPackages(target);
}
