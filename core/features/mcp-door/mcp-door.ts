// A door for programs that speak the Model Context Protocol, with TrayClaw as a server of tools. The implementation is loaded with the
// first request; until then the door costs one comparison of a path.

import { defineBuiltInFeature, type DoorPlan } from '../feature.ts';
import type { McpHttp } from './http-transport.ts';
import type { McpDoor, McpDoorDeps } from './serve.ts';

export { serveOnStdio, type StdioOptions } from './stdio.ts';

/** Loads the transport alone, for the protocol's conformance suite. */
export async function loadTransport(): Promise<{ readonly McpHttp: typeof McpHttp }> {
  return import('./http-transport.ts');
}

type Taken = Omit<McpDoorDeps, 'claw'>;

export const mcpDoor = defineBuiltInFeature({
  name: 'mcp-door',
  create: (spine: Taken) => {
    let opening: Promise<McpDoor> | null = null;
    return {
      doors: [
        {
          door: 'mcp',
          paths: ['/mcp'],
          owns: (path) => path === '/mcp',
          open: (claw) => async (request, reply) => {
            opening ??= import('./serve.ts').then(({ McpDoor: Door }) => new Door({ ...spine, claw }));
            await (await opening).answer(request, reply);
          },
        },
      ] satisfies DoorPlan[],
      dispose: async () => {
        await (await opening)?.dispose();
      },
    };
  },
});
