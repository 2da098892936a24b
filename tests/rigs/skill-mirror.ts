// A mirror of skill collections: an archive of each skill in a folder, an index.json with its SHA-256, a static server on loopback. Written
// without the store's code, so that each checks the other.

import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join, relative } from 'node:path';
import { rawZip, type RawEntry } from '../doubles/raw-archive.ts';

export interface MirroredSkill {
  /** The name in the skill's header, converted to a valid name. */
  readonly name: string;
  readonly folder: string;
  /** SHA-256 of each file, by its path. */
  readonly files: ReadonlyMap<string, string>;
}

const passedOver = new Set(['.git', 'node_modules', '__pycache__', '.venv', '.DS_Store']);

/** The folders of all skills below a folder; none is inside another. */
function foldersIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  if (entries.some((entry) => entry.isFile() && entry.name.toLowerCase() === 'skill.md')) return [folder];
  const below = entries.filter((entry) => entry.isDirectory() && !passedOver.has(entry.name));
  return below.flatMap((entry) => foldersIn(join(folder, entry.name)));
}

function entriesIn(folder: string, from = folder): RawEntry[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry): RawEntry[] => {
    const path = join(folder, entry.name);
    if (passedOver.has(entry.name)) return [];
    if (entry.isDirectory()) return entriesIn(path, from);
    const name = relative(from, path).split('\\').join('/');
    if (entry.isSymbolicLink()) return [{ name, data: readlinkSync(path), mode: 0o120777 }];
    return [{ name, data: readFileSync(path), mode: 0o100000 | (lstatSync(path).mode & 0o777) }];
  });
}

function nameIn(folder: string): string {
  const file = ['SKILL.md', 'skill.md'].map((name) => join(folder, name)).find((path) => existsSync(path)) ?? '';
  const given = /^name:\s*["']?(.*?)["']?\s*$/m.exec(file === '' ? '' : readFileSync(file, 'utf8'))?.[1];
  return (given === undefined || given === '' ? basename(folder) : given).toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

/** Writes the archives and index.json of one collection. The index contains the first skill of each name. */
function mirrorCollection(folder: string, into: string): MirroredSkill[] {
  const skills: MirroredSkill[] = [];
  const index: object[] = [];
  mkdirSync(into, { recursive: true });
  for (const at of foldersIn(folder)) {
    const name = nameIn(at);
    if (skills.some((other) => other.name === name)) continue;
    const entries = entriesIn(at);
    const archive = rawZip(entries.map((entry) => ({ ...entry, name: `${basename(at)}/${entry.name}` })));
    writeFileSync(join(into, `${skills.length}.zip`), archive);
    index.push({ name, path: `${skills.length}.zip`, sha256: createHash('sha256').update(archive).digest('hex') });
    const files = new Map(
      entries.map(
        (entry) =>
          [
            entry.name,
            createHash('sha256')
              .update(entry.data ?? '')
              .digest('hex'),
          ] as const,
      ),
    );
    skills.push({ name, folder: at, files });
  }
  writeFileSync(join(into, 'index.json'), JSON.stringify({ skills: index }));
  return skills;
}

export class SkillMirror {
  readonly collections = new Map<string, readonly MirroredSkill[]>();
  readonly #server: Server;
  #origin = '';

  constructor(collections: string, into: string) {
    for (const entry of readdirSync(collections, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const name = entry.name
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .slice(0, 40);
      this.collections.set(name, mirrorCollection(join(collections, entry.name), join(into, name)));
    }
    this.#server = createServer((request, response) => {
      const path = join(into, decodeURIComponent(request.url ?? ''));
      const isThere = dirname(dirname(path)) === into && existsSync(path);
      response.writeHead(isThere ? 200 : 404).end(isThere ? readFileSync(path) : '');
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get markets(): { name: string; url: string }[] {
    return [...this.collections.keys()].map((name) => ({ name, url: `${this.#origin}/${name}/index.json` }));
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
