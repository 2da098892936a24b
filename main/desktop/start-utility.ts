// Starts the engine's child as an Electron utility process, because the packaged program cannot run a script as Node does.

import { fileURLToPath } from 'node:url';
import type { utilityProcess as ElectronUtility } from 'electron';
import type { StartChild } from '../../core/mind/llm/llm.ts';

type UtilityPort = Pick<typeof ElectronUtility, 'fork'>;

export function startUtility(utility: UtilityPort): StartChild {
  return (script, environment) => {
    const child = utility.fork(fileURLToPath(script), [], {
      env: { ...environment },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe'],
      serviceName: 'TrayClaw engine',
      // The engine's library is not signed with this program's certificate.
      allowLoadingUnsignedLibraries: true,
    });
    return {
      get pid() {
        return child.pid;
      },
      send: (message) => child.postMessage(message),
      onMessage: (listener) => void child.on('message', listener),
      onExit: (listener) => void child.once('exit', () => listener()),
      onError: (listener) => {
        child.stderr?.on('data', (bytes: Buffer) => listener(bytes.toString('utf8')));
        // Without a listener, an engine that runs out of memory would end this program too. Its exit is reported as well.
        child.on('error', (type, location) => listener(`${type} in ${location}`));
      },
      onSpawn: (listener) => void child.once('spawn', listener),
      kill: () => {
        try {
          // While it loads a model, the child does not react to SIGTERM.
          if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
          else child.kill();
        } catch {
          // It has just ended, which its exit event reports.
        }
      },
    };
  };
}
