// The approvals of servers as rows, kept in step with the log. A server without a row offers nothing to a model.

import * as z from 'zod';
import { byType } from '../../contracts/event-table.ts';
import { mcpEraSchema, mcpToolSchema, type McpEra, type McpTool } from '../../contracts/features/mcp.ts';
import type { PermittingRows } from '../../store/session/session.ts';
import { sqlMigrations, Statements, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const mcpMigrations: readonly Migration[] = sqlMigrations({
  'mcp-001-approvals':
    'CREATE TABLE IF NOT EXISTS mcp_approvals (server TEXT PRIMARY KEY, definition TEXT NOT NULL, sha256 TEXT NOT NULL, ' +
    'era TEXT NOT NULL, tools TEXT NOT NULL) STRICT, WITHOUT ROWID',
});

export interface Approved {
  readonly definition: string;
  readonly sha256: string;
  readonly era: McpEra;
  readonly tools: readonly McpTool[];
}

const rowSchema = z.object({ definition: z.string(), sha256: z.string(), era: mcpEraSchema, tools: z.string() });
const toolsSchema = z.array(mcpToolSchema);

const statements = {
  put: 'INSERT OR REPLACE INTO mcp_approvals (server, definition, sha256, era, tools) VALUES (?, ?, ?, ?, ?)',
  one: 'SELECT definition, sha256, era, tools FROM mcp_approvals WHERE server = ?',
};

export class McpRows {
  readonly #sql: Statements;
  /** Cache; invalidated by the next event about the server. */
  readonly #known = new Map<string, Approved | null>();

  readonly permits = {
    what: 'The approval of the MCP server',
    rows: 'mcp_approvals',
    key: 'server',
    value: 'definition || sha256 || tools',
    events: ['mcp.approved', 'mcp.removed'],
    keyInBody: "json_extract(body, '$.server')",
    valueInBody: "json_extract(body, '$.definition') || json_extract(body, '$.sha256') || json_extract(body, '$.tools')",
    undo: 'trayclaw mcp remove KEY',
  } satisfies PermittingRows;

  readonly apply = byType({
    'mcp.approved': ({ body: { server, definition, sha256, era, tools } }) => {
      this.#sql.run(statements.put, server, definition, sha256, era, JSON.stringify(tools));
      this.#known.delete(server);
    },
    'mcp.removed': ({ body: { server } }) => {
      this.#sql.run('DELETE FROM mcp_approvals WHERE server = ?', server);
      this.#known.delete(server);
    },
  });

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  /** Null if nothing of the server is approved. */
  approved(server: string): Approved | null {
    const known = this.#known.get(server);
    if (known !== undefined) return known;
    const row = rowSchema.safeParse(this.#sql.row(statements.one, server));
    const found = row.success ? { ...row.data, tools: toolsSchema.parse(JSON.parse(row.data.tools)) } : null;
    this.#known.set(server, found);
    return found;
  }
}
