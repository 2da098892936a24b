// Checks of the routes of config.yaml: whether each has usable candidates, and which candidates can never be used. Contacts no server.

import type { Config } from '../../contracts/config.ts';
import { toAppError } from '../../contracts/errors.ts';
import { unwell, warning, well, type Finding, type HealthSource } from '../../contracts/health.ts';
import type { RouteConfig } from '../../contracts/model-routes.ts';
import { isRouteRef, routeNameOf, routeRefOf } from '../../contracts/route-name.ts';
import { keysOf, type ModelRouter } from '../../mind/llm/llm.ts';
import type { Spine } from '../feature.ts';

export interface RouteChecksDeps extends Pick<Spine, 'secrets'> {
  readonly settings: { readonly config: Pick<Config, 'models' | 'providers' | 'agents'> };
  readonly models: Pick<ModelRouter, 'knows' | 'isLocal'>;
}

const ROUTES_MAX = 50;

export function routeChecks(deps: RouteChecksDeps): HealthSource {
  return {
    check: async () => {
      const { models, agents } = deps.settings.config;
      const routes = Object.entries(models.routes).slice(0, ROUTES_MAX);
      const named = [
        ['models.default', models.default],
        ...Object.entries(agents).map(([id, { model }]) => [`agents.${id}.model`, model] as const),
      ] as const;
      const lost = named.flatMap(([key, ref]) =>
        ref !== undefined && isRouteRef(ref) && !Object.hasOwn(models.routes, routeNameOf(ref)) ? [missingRoute(key, ref)] : [],
      );
      return [...lost, ...(await Promise.all(routes.map(([name, route]) => checkRoute(deps, name, route))))];
    },
  };
}

function missingRoute(key: string, ref: string): Finding {
  const what = `${key} names ${ref}, and models.routes has no "${routeNameOf(ref)}".`;
  return unwell(
    `route.${routeNameOf(ref)}`,
    what,
    `Add it to models.routes in config.yaml, or choose a model: trayclaw config set ${key} PROVIDER/MODEL`,
  );
}

async function checkRoute(deps: RouteChecksDeps, name: string, { candidates, localOnly }: RouteConfig): Promise<Finding> {
  const id = `route.${name}`;
  const models = candidates.map((one) => (typeof one === 'string' ? one : one.model));
  const problems = (await Promise.all(models.map((model) => problemOf(deps, model, localOnly)))).flatMap((problem) => problem ?? []);
  const usable = models.length - problems.length;
  const fix = `Correct models.routes.${name} in config.yaml, or set up what is missing: trayclaw setup`;
  if (usable === 0) return unwell(id, `${routeRefOf(name)} leads to no model. ${problems.join(' ')}`, fix);
  if (problems.length > 0) return warning(id, `${routeRefOf(name)}: ${problems.join(' ')}`, fix);
  return well(id, `${routeRefOf(name)} leads to ${models.join(', ')}.`);
}

async function problemOf(deps: RouteChecksDeps, model: string, localOnly: boolean): Promise<string | null> {
  const provider = model.slice(0, model.indexOf('/'));
  if (!deps.models.knows(model)) return `${model} has no provider: "${provider}" is not set up.`;
  if (localOnly && !deps.models.isLocal(model)) return `${model} does not run on this computer, and the route takes only models that do.`;
  const config = deps.settings.config.providers[provider];
  const keys = config === undefined ? [] : keysOf(config).filter((ref) => ref !== null);
  if (keys.length === 0) return null;
  const read = await Promise.allSettled(keys.map((ref) => deps.secrets.resolve(ref)));
  const [first] = read.flatMap((one) => (one.status === 'rejected' ? [toAppError(one.reason).message] : []));
  return first !== undefined && read.every(({ status }) => status === 'rejected') ? `${model} cannot be asked: ${first}` : null;
}
