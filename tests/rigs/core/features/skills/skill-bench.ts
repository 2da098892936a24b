// For tests only: skills on a real disk, decisions in a real database, and a log that keeps what was recorded.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ManualClock } from '../../../../doubles/manual-clock.ts';
import { silentLogger } from '../../../../../core/base/logger.ts';
import type { AnyDraft } from '../../../../../core/contracts/events.ts';
import { skillsConfigSchema } from '../../../../../core/contracts/features/skills.ts';
import { sessionMigrations, SessionLog } from '../../../../../core/store/session/session.ts';
import { Storage } from '../../../../../core/store/storage/storage.ts';
import { SkillBook } from '../../../../../core/features/skills/skill-book.ts';
import { createSkillSources } from '../../../../../core/features/skills/skill-sources.ts';
import { skillMigrations, SkillRows } from '../../../../../core/features/skills/rows.ts';
import { SkillReader } from '../../../../../core/features/skills/skill-reader.ts';
import type { Surroundings } from '../../../../../core/features/skills/skill-needs.ts';

interface BenchOptions {
  readonly tools?: readonly string[];
  readonly around?: Partial<Surroundings>;
  readonly config?: { readonly depth?: number; readonly perTurn?: number; readonly shortlist?: number };
}

export class SkillBench {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-skill-')));
  readonly clock = new ManualClock(Date.parse('2026-06-01T12:00:00Z'));
  readonly rows: SkillRows;
  readonly log: SessionLog;
  /** Folders in which the agent may write. */
  opened: readonly string[] = [];
  book!: SkillBook;
  reader!: SkillReader;
  sources!: ReturnType<typeof createSkillSources>;
  readonly #options: BenchOptions;
  readonly #storage: Storage;

  constructor(options: BenchOptions = {}) {
    this.#options = options;
    for (const folder of ['home', 'workspace', 'person', 'bundled']) mkdirSync(join(this.root, folder));
    this.#storage = Storage.open({ home: join(this.root, 'home'), migrations: [...sessionMigrations, ...skillMigrations] });
    this.rows = new SkillRows(this.#storage.db);
    this.log = new SessionLog({ storage: this.#storage, clock: this.clock, logger: silentLogger, projections: [this.rows] });
    this.reopen();
  }

  /** Simulates a restart: only the rows are kept. */
  reopen(): void {
    const { tools = ['skill', 'exec', 'read_file'], around = {}, config = {} } = this.#options;
    const record = (sessionId: string, drafts: readonly AnyDraft[]): void => void this.log.append(sessionId, drafts);
    const parsed = skillsConfigSchema.parse(config);
    this.book = new SkillBook({
      roots: [
        { path: this.at('workspace'), origin: 'workspace' },
        { path: this.at('person'), origin: 'person' },
        { path: this.at('bundled'), origin: 'bundled' },
      ],
      rows: this.rows,
      clock: this.clock,
      logger: silentLogger,
      config: parsed,
      around: { platform: 'linux', environment: {}, config: {}, hasProgram: () => false, ...around },
      openedAround: (folder) => this.opened.find((open) => open === folder) ?? null,
      tools: () => new Set(tools),
      record,
    });
    const today = (): string => new Date(this.clock.nowMs()).toISOString().slice(0, 10);
    const openedIn = (turnId: string) => this.rows.openedIn(turnId);
    this.reader = new SkillReader({ skills: this.book, config: parsed, today, disabled: () => this.rows.disabled, openedIn, record });
    this.sources = createSkillSources({ skills: this.book, reader: this.reader });
  }

  at(...parts: readonly string[]): string {
    return join(this.root, ...parts);
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), content);
  }

  /** Writes a skill with this front matter and body, named after its folder. */
  skill(place: string, about: { readonly head?: string; readonly body?: string; readonly description?: string } = {}): void {
    const name = place.split('/').at(-1) ?? '';
    const { head = '', body = 'Do it.', description = `Does what ${name} says, for a test of skills.` } = about;
    this.write(`${place}/SKILL.md`, `---\nname: ${name}\ndescription: ${description}\n${head === '' ? '' : `${head}\n`}---\n\n${body}\n`);
  }

  remove(path: string): void {
    rmSync(this.at(path), { recursive: true });
  }

  trustContent(name: string, trusted = true): void {
    const { path, sha256 } = this.book.get(name);
    this.log.append('system', [{ type: 'skill.trusted', body: { name, target: { kind: 'content', path, sha256 }, trusted, by: 'test' } }]);
    this.book.reload();
  }

  dispose(): void {
    this.#storage.dispose();
    rmSync(this.root, { recursive: true, force: true });
  }
}
