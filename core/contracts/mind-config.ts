// The sections of config.yaml on memory, documents and embeddings.

import * as z from 'zod';

export const sourceNameSchema = z.string().regex(/^[A-Za-z0-9_-]{1,60}$/, 'a name has letters, digits, - and _, at most 60');
export const endingsSchema = z
  .array(z.string().regex(/^[A-Za-z0-9]{1,12}$/, 'an ending has letters and digits, without the dot'))
  .min(1)
  .max(100);

/** A function: the form of a reference to a secret belongs to config.ts, which uses this. */
export function mindSections<R extends z.ZodType>(secretRef: R) {
  const modelSettings = {
    model: z.string().min(1).max(200),
    /** Asked of the server where it can shorten its vectors, and held against what it answers. */
    dimensions: z.number().int().min(8).max(4096).optional(),
  };
  const embeddingsSchema = z.discriminatedUnion('kind', [
    /** POST {baseUrl}/embeddings, as OpenAI, LM Studio, llama-server and most others answer it. */
    z.strictObject({
      kind: z.literal('openai-compatible'),
      baseUrl: z.url(),
      apiKey: secretRef.optional(),
      /** Without it what embedding costs is not known, and only limits in tokens hold it. */
      usdPerMillionTokens: z.number().nonnegative().optional(),
      ...modelSettings,
    }),
    z.strictObject({ kind: z.literal('ollama'), baseUrl: z.url().default('http://127.0.0.1:11434'), ...modelSettings }),
    /** A GGUF file of the person's own, served by llama-server, which is started when it is first needed. */
    z.strictObject({
      kind: z.literal('gguf'),
      /** Of llama-server; found on the PATH when it is a name. */
      program: z.string().min(1).max(500).default('llama-server'),
      file: z.string().min(1).max(1000),
      dimensions: z.number().int().min(8).max(4096).optional(),
    }),
  ]);
  const inlineSchema = z.strictObject({
    kind: z.literal('inline'),
    title: z.string().trim().min(1).max(200).optional(),
    text: z.string().min(1).max(200_000),
  });
  const directorySchema = z.strictObject({
    kind: z.literal('directory'),
    /** Absolute, or below the workspace. */
    path: z.string().min(1).max(1000),
    /** Endings of the names that are read, without the dot; all that can be read when left out. */
    endings: endingsSchema.optional(),
    watch: z.boolean().default(true),
    filesMax: z.number().int().min(1).max(100_000).default(10_000),
    fileBytesMax: z.number().int().min(1024).max(100_000_000).default(20_000_000),
  });
  const fileSchema = z.strictObject({
    kind: z.literal('file'),
    /** Absolute, or below the workspace. */
    path: z.string().min(1).max(1000),
    watch: z.boolean().default(true),
    fileBytesMax: z.number().int().min(1024).max(100_000_000).default(20_000_000),
  });
  return {
    /** Vectors for search by meaning; without it words alone are searched. */
    embeddings: embeddingsSchema.optional(),
    memory: z
      .strictObject({
        enabled: z.boolean().default(true),
        /** Whether what a person says in a turn is looked through for what is worth remembering. */
        fromTurns: z.boolean().default(true),
        /** How many at most are shown to the model in a turn. */
        snippetsMax: z.number().int().min(0).max(50).default(6),
        candidatesMax: z.number().int().min(1).max(100_000).default(500),
      })
      .prefault({}),
    knowledge: z
      .strictObject({
        sources: z.record(sourceNameSchema, z.discriminatedUnion('kind', [inlineSchema, directorySchema, fileSchema])).default({}),
        /** Whether evidence is put before the model by itself, where a question seems to be about the documents. */
        inContext: z.boolean().default(true),
        evidenceMax: z.number().int().min(1).max(20).default(4),
      })
      .prefault({}),
  };
}
