// The thread that reads pages and documents: one job from its starter, one answer back. Keeps its libraries out of the main thread.

import { parentPort, workerData } from 'node:worker_threads';
import { readDocument } from './read-document.ts';
import type { PageJob } from './web-page.ts';
import { readPage, readWhole } from './web-readable.ts';
import { readResultsPage } from './web-results-page.ts';
import { prettyJson } from './web-text.ts';

const job = workerData as PageJob;

function work(): unknown {
  switch (job.kind) {
    case 'page':
      return readPage(job.html, job.url);
    case 'whole':
      return readWhole(job.html);
    case 'json':
      return prettyJson(job.text);
    case 'results':
      return readResultsPage(job.html);
    case 'document':
      return readDocument(job.bytes);
  }
}

parentPort?.postMessage(await work());
