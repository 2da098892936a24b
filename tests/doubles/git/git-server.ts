// Git's own HTTP server (`git http-backend`) on a local socket, with repositories that a test writes with git.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

export interface GitServer {
  readonly url: string;
  /** Changes each answer before it is sent. */
  alter: (body: Buffer) => Buffer;
  close(): void;
}

export function git(folder: string, ...args: readonly string[]): string {
  const env = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', HOME: folder };
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...who, ...args], { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** Commits these files to a new or existing repository; `null` deletes a file, `-> x` creates a link to x. Returns the commit. */
export function commitFiles(folder: string, files: Readonly<Record<string, string | null>>): string {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '--quiet');
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    if (content?.startsWith('-> ')) symlinkSync(content.slice(3), path);
    else if (content !== null) writeFileSync(path, content);
  }
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', 'A change');
  return git(folder, 'rev-parse', 'HEAD');
}

/** Serves each repository below `root` under its name; a trailing `.git` is not part of the folder name. */
export async function serveGit(root: string): Promise<GitServer> {
  const server = createServer((request, response) => {
    void bodyOf(request).then((input) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      const env = {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
        PATH_INFO: url.pathname.replace('.git/', '/.git/'),
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        CONTENT_LENGTH: String(input.length),
        HTTP_GIT_PROTOCOL: request.headers['git-protocol']?.toString() ?? '',
      };
      const { stdout } = spawnSync('git', ['http-backend'], { env, input, maxBuffer: 100_000_000 });
      const end = stdout.indexOf('\r\n\r\n');
      const headers = stdout.toString('latin1', 0, end).split('\r\n').map((line) => line.split(': ', 2)); // prettier-ignore
      const status = headers.find(([name]) => name === 'Status')?.[1];
      response.writeHead(Number(status?.slice(0, 3) ?? 200), Object.fromEntries(headers.filter(([name]) => name !== 'Status')));
      response.end(made.alter(stdout.subarray(end + 4)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const made: GitServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    alter: (body) => body,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return made;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
