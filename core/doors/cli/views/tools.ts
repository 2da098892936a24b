// Views of tools and artifacts. An artifact is read in parts and may be written to a file.

import { givenPath } from '../../../base/given-path.ts';
import type { OpParams, OpResult } from '../../../contracts/ops.ts';
import type { CommandContext } from '../command-context.ts';
import { exitCodes } from '../exit-code.ts';
import type { ViewsOf } from '../kernel/view.ts';
import { facts, size } from '../table.ts';
import { writeNewResult } from '../write-result.ts';

const artifactChunkBytes = 1_000_000;

export const artifactViews: ViewsOf<'artifact'> = {
  'artifact.get': { perform: (context, params, { out }) => getArtifact(context, params, typeof out === 'string' ? out : undefined) },
};

function getArtifact(context: CommandContext, params: OpParams<'artifact.get'>, out: string | undefined): Promise<number> {
  return context.withClaw('any', async ({ claw }) => {
    if (context.output.isJson && out === undefined) {
      context.output.result(await claw.op('artifact.get', params), () => '');
      return exitCodes.done;
    }
    const { artifact } = params;
    const chunks: Buffer[] = [];
    let about: OpResult<'artifact.get'>['artifact'] | null = null;
    for (let offset: number | null = 0; offset !== null;) {
      const part: OpResult<'artifact.get'> = await claw.op('artifact.get', { artifact, offset, length: artifactChunkBytes });
      about = part.artifact;
      chunks.push(part.base64 === null ? Buffer.from(part.text ?? '') : Buffer.from(part.base64, 'base64'));
      offset = part.nextOffset;
    }
    if (out === undefined) context.output.raw(Buffer.concat(chunks));
    else saveArtifact(context, givenPath(context.io, out), { about, bytes: Buffer.concat(chunks) });
    return exitCodes.done;
  });
}

function saveArtifact(context: CommandContext, file: string, content: { readonly about: unknown; readonly bytes: Buffer }): void {
  writeNewResult(file, content.bytes);
  context.output.result({ artifact: content.about, file }, () =>
    facts([
      ['File', file],
      ['Size', size(content.bytes.length)],
    ]),
  );
}
