// The worker thread that reads documents: takes jobs from its parent and posts one answer each, in order.

import { parentPort } from 'node:worker_threads';
import { runDocumentJob, type DocumentJob } from './read-document.ts';

parentPort?.on('message', ({ id, job }: { readonly id: number; readonly job: DocumentJob }) => {
  // Runs inside a promise chain, so that a synchronous throw is reported as well.
  void Promise.resolve()
    .then(() => runDocumentJob(job))
    .then(
      (result) => parentPort?.postMessage({ id, result }),
      (cause: unknown) => parentPort?.postMessage({ id, failed: String(cause) }),
    );
});
