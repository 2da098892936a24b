// Starts the worker that highlights code. Besides the page's own scripts, only its address may be loaded as a script.

// oxlint-disable-next-line import/default -- the bundler answers with the address of the worker's own file
import workerUrl from './code-worker.ts?worker&url';
import type { CodeReply } from './code-tokens.ts';
import type { StartCodeWorker } from './highlighter.ts';

interface WorkerPolicy {
  createScriptURL(url: string): string;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): WorkerPolicy;
}

/** Created once for the page, because a policy with the same name cannot be created again. */
export function createCodeWorkerStarter(target: object): StartCodeWorker {
  // Missing in some browsers and in the page's types.
  const { trustedTypes } = target as { readonly trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy('trayclaw-worker', { createScriptURL: () => workerUrl });
  return (onReply, onFailure) => {
    const worker = new Worker(policy?.createScriptURL(workerUrl) ?? workerUrl, { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<CodeReply>) => onReply(data));
    worker.addEventListener('error', () => onFailure());
    return { ask: (request) => worker.postMessage(request), end: () => worker.terminate() };
  };
}
