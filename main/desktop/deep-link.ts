// Parses trayclaw:// links, which only open a place in the window. Anyone can write one, so no link carries an answer, and only the link
// for an MCP server carries text: it fills a form that the person reads and submits.

import type { ShellCommand } from '../../core/contracts/desktop-channels.ts';
import { viewNames } from '../../core/contracts/views.ts';

export const linkScheme = 'trayclaw';

const serverLink = `${linkScheme}://mcp/add?`;
const QUERY_CHARS_MAX = 4000;
const ID = /^(ses|apr)_[0-9A-HJKMNP-TV-Z]{26}$/;

/**
 * The target of a link, or null for any other text. `trayclaw://settings`, `trayclaw://session/ID`, `trayclaw://approval/ID`,
 * `trayclaw://mcp/add?name=NAME&url=ADDRESS`.
 */
export function placeOfLink(text: string): ShellCommand | null {
  if (text.startsWith(serverLink)) {
    const query = text.slice(serverLink.length);
    return query.length > QUERY_CHARS_MAX || !/^[\x21-\x7e]+$/.test(query) || query.includes('#') ? null : { kind: 'show-server', query };
  }
  const url = parseOwn(text);
  if (url === null) return null;
  const id = url.pathname.replace(/^\//, '');
  const view = viewNames.find((name) => name === url.hostname);
  if (view !== undefined && id === '') return { kind: 'show', view };
  if (url.hostname === 'session' && ID.test(id) && id.startsWith('ses_')) return { kind: 'show-session', sessionId: id };
  if (url.hostname === 'approval' && ID.test(id) && id.startsWith('apr_')) return { kind: 'show-approval', approvalId: id };
  return null;
}

/** Accepts plain links only: user name, port, query and fragment have no meaning here. */
function parseOwn(text: string): URL | null {
  const url = text.length <= 200 ? URL.parse(text) : null;
  if (url?.protocol !== `${linkScheme}:`) return null;
  return [url.search, url.hash, url.username, url.password, url.port].every((part) => part === '') ? url : null;
}

/** The link among the command-line arguments, where Windows and Linux pass it. */
export function linkAmong(argv: readonly string[]): string | null {
  return argv.find((argument) => argument.startsWith(`${linkScheme}://`)) ?? null;
}
