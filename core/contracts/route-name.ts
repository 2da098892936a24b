// The form of a route reference, which can be used in place of a model: `route/NAME`. Free of schemas, so that the window can use it.

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
