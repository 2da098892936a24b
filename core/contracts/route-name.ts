// How a route is named where a model may be: `route/NAME`. No schemas, so that the window may use it.

const routePrefix = 'route/';

export function isRouteRef(ref: string): boolean {
  return ref.startsWith(routePrefix);
}

export function routeRefOf(name: string): string {
  return routePrefix + name;
}

export function routeNameOf(ref: string): string {
  return ref.slice(routePrefix.length);
}
