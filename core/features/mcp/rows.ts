// The approvals of servers: rows kept in step with the log. Nothing of a server without a row is offered to a model.

import * as z from 'zod';
import type { AnyEvent } from '../../contracts/events.ts';
import { mcpEraSchema, mcpToolSchema, type McpEra, type McpTool } from '../../contracts/features/mcp.ts';
import type { Migration, SqlDatabase } from '../../store/storage/storage.ts';

export const mcpMigrations: readonly Migration[] = [
  {
    id: 'mcp-001-approvals',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(
        'CREATE TABLE IF NOT EXISTS mcp_approvals (server TEXT PRIMARY KEY, definition TEXT NOT NULL, sha256 TEXT NOT NULL, ' +
          'era TEXT NOT NULL, tools TEXT NOT NULL) STRICT, WITHOUT ROWID',
      );
    },
  },
];

export interface Approved {
  readonly definition: string;
  readonly sha256: string;
  readonly era: McpEra;
  readonly tools: readonly McpTool[];
}

const rowSchema = z.object({ definition: z.string(), sha256: z.string(), era: mcpEraSchema, tools: z.string() });
const toolsSchema = z.array(mcpToolSchema);

export class McpRows {
  readonly #db: SqlDatabase;
  /** As read; dropped with the next event about the server. */
  readonly #known = new Map<string, Approved | null>();

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    if (event.type === 'mcp.approved') {
      const { server, definition, sha256, era, tools } = event.body;
      this.#db
        .prepare('INSERT OR REPLACE INTO mcp_approvals (server, definition, sha256, era, tools) VALUES (?, ?, ?, ?, ?)')
        .run(server, definition, sha256, era, JSON.stringify(tools));
      this.#known.delete(server);
    } else if (event.type === 'mcp.removed') {
      this.#db.prepare('DELETE FROM mcp_approvals WHERE server = ?').run(event.body.server);
      this.#known.delete(event.body.server);
    }
  }

  /** Null where nothing is approved of it. */
  approved(server: string): Approved | null {
    const known = this.#known.get(server);
    if (known !== undefined) return known;
    const row = rowSchema.safeParse(
      this.#db.prepare('SELECT definition, sha256, era, tools FROM mcp_approvals WHERE server = ?').get(server),
    );
    const found = row.success ? { ...row.data, tools: toolsSchema.parse(JSON.parse(row.data.tools)) } : null;
    this.#known.set(server, found);
    return found;
  }
}
