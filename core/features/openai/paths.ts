// The paths of OpenAI's and Ollama's API. The latter share the prefix /api/ with our own, so each is listed.

export const openAiPaths = ['/v1/models', '/v1/chat/completions', '/v1/responses', '/v1/embeddings'] as const;
export type OpenAiPath = (typeof openAiPaths)[number];

export const answeringPaths = [
  '/api/version',
  '/api/tags',
  '/api/ps',
  '/api/show',
  '/api/chat',
  '/api/generate',
  '/api/embed',
  '/api/embeddings',
] as const;
export type AnsweringPath = (typeof answeringPaths)[number];

/** These change which models there are, so they are refused. */
export const managingPaths: ReadonlySet<string> = new Set(['/api/pull', '/api/push', '/api/create', '/api/copy', '/api/delete']);

export const ollamaPaths: ReadonlySet<string> = new Set([...answeringPaths, ...managingPaths]);
