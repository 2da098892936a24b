// Starts the engine's child process with Node. The desktop app, which is not plain Node, provides its own function.

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { StartChild } from './embedded-engine.ts';

export const startNodeChild: StartChild = (script, environment) => {
  const child = fork(fileURLToPath(script), [], {
    env: { ...environment },
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  return {
    pid: child.pid,
    onSpawn: (listener) => void child.once('spawn', listener),
    send: (message) => {
      // The child may have exited in between, which its exit event reports.
      if (child.connected) child.send(message, () => undefined);
    },
    onMessage: (listener) => void child.on('message', listener),
    onExit: (listener) => {
      child.once('exit', listener);
      child.once('error', listener);
    },
    onError: (listener) => void child.stderr?.setEncoding('utf8').on('data', listener),
    kill: () => void child.kill('SIGKILL'),
  };
};
