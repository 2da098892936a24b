// The thread that reads documents: jobs from its starter, one answer each, in order.

import { parentPort } from 'node:worker_threads';
import { runDocumentJob, type DocumentJob } from './read-document.ts';

parentPort?.on('message', ({ id, job }: { readonly id: number; readonly job: DocumentJob }) => {
  // `then` inside a promise chain, so that a synchronous throw is an answer as well.
  void Promise.resolve()
    .then(() => runDocumentJob(job))
    .then(
      (result) => parentPort?.postMessage({ id, result }),
      (cause: unknown) => parentPort?.postMessage({ id, failed: String(cause) }),
    );
});
