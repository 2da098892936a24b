// The markets of config.yaml, opened when first used. The kind of a market is detected from its answer. A market that fails does not
// prevent the others from answering.

import { isAbsolute, join } from 'node:path';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import { AppError, noSuch, toAppError } from '../../contracts/errors.ts';
import type { SkillMarket } from '../../contracts/skill-parts.ts';
import { ClawHubMarket } from './market-clawhub.ts';
import { IndexMarket, parseIndex, type IndexDeps } from './market-index.ts';
import type { Market, Offer } from './offer.ts';

export interface MarketProblem {
  readonly market: string;
  readonly problem: string;
}

const wellKnown = ['/.well-known/agent-skills/index.json', '/.well-known/skills/index.json'] as const;
const clawHub = ['/.well-known/clawhub.json', '/.well-known/clawdhub.json'] as const;
const clawHubSchema = z.object({ apiBase: z.url() });

export class Markets {
  readonly #configured: readonly SkillMarket[];
  readonly #deps: IndexDeps & { readonly home: string };

  constructor(configured: readonly SkillMarket[], deps: IndexDeps & { readonly home: string }) {
    this.#configured = configured;
    this.#deps = deps;
  }

  get names(): readonly string[] {
    return this.#configured.map(({ name }) => name);
  }

  /** Asks every market, or only the named one. Fails with not_found if config.yaml has no market of that name. */
  async ask(
    only: string | null,
    question: (market: Market) => Promise<readonly Offer[]>,
    signal: AbortSignal,
  ): Promise<{ offers: readonly Offer[]; problems: readonly MarketProblem[] }> {
    const asked = this.#configured.filter(({ name }) => only === null || name === only);
    if (asked.length === 0) throw this.#unknown(only);
    const problems: MarketProblem[] = [];
    const all = await Promise.all(
      asked.map(async (market) => {
        try {
          return await question(await this.#open(market, signal));
        } catch (cause) {
          // If only one market is asked, its failure is thrown.
          if (signal.aborted || asked.length === 1) throw cause;
          problems.push({ market: market.name, problem: toAppError(cause).message });
          return [];
        }
      }),
    );
    return { offers: all.flat(), problems };
  }

  #unknown(name: string | null): AppError {
    if (name !== null) {
      const known = this.names.join(', ') || 'none';
      const hint = `Markets in config.yaml: ${known}. For a folder or an archive, give a path that begins with ./ or /.`;
      return noSuch('market', name, this.names, hint);
    }
    return new AppError('not_found', 'No market is set up.', {
      hint: 'Name one in config.yaml: skills.markets, with a name and the address or path of its index.',
    });
  }

  /** Opens the market each time, because it may change while the program runs. */
  async #open({ name, url }: SkillMarket, signal: AbortSignal): Promise<Market> {
    if (!/^https?:/i.test(url)) return this.#file(name, url);
    const address = new URL(url);
    if (address.pathname.endsWith('.json')) {
      const isWellKnown = address.pathname.includes('/.well-known/');
      return new IndexMarket({ name, kind: isWellKnown ? 'well-known' : 'index', at: address.href, isFile: false }, this.#deps);
    }
    return this.#discover(name, address, signal);
  }

  #file(name: string, url: string): Market {
    const given = url.startsWith('file:') ? fileURLToPath(url) : url;
    const full = isAbsolute(given) ? given : join(this.#deps.home, given);
    const at = existsSync(full) && statSync(full).isDirectory() ? join(full, 'index.json') : full;
    return new IndexMarket({ name, kind: 'index', at, isFile: true }, this.#deps);
  }

  async #discover(name: string, address: URL, signal: AbortSignal): Promise<Market> {
    const { web } = this.#deps;
    const read = async (at: string): Promise<Buffer | null> => {
      const { status, body } = await web.ask(at, signal);
      return status === 200 ? body : null;
    };
    for (const path of clawHub) {
      const found = await read(new URL(path, address).href);
      const json = found === null ? null : parseJson(found.toString('utf8'));
      const parsed = json?.ok === true ? clawHubSchema.safeParse(json.value) : null;
      if (parsed?.success === true) return new ClawHubMarket(name, parsed.data.apiBase, web);
    }
    for (const path of wellKnown) {
      const at = new URL(path, address).href;
      const found = await read(at);
      if (found !== null) return new IndexMarket({ name, kind: 'well-known', at, isFile: false }, this.#deps, parseIndex(found, name));
    }
    const at = new URL('index.json', address.href.endsWith('/') ? address.href : `${address.href}/`).href;
    const found = await read(at);
    if (found !== null) return new IndexMarket({ name, kind: 'index', at, isFile: false }, this.#deps, parseIndex(found, name));
    throw new AppError('not_found', `${address.host} offers no skills: it has no index.json, no well-known index and is no ClawHub.`, {
      hint: 'Give the address of the index itself in skills.markets.',
    });
  }
}
