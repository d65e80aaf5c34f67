import type { ApiRoute } from '../../template/model.ts';

export interface RouteMatch extends ApiRoute {
  pathParameters: Record<string, string>;
}

interface ParsedRoute {
  route: ApiRoute;
  method: string;
  segments: string[];
  specificity: string;
}

/** Prepares the routes of an API for matching, most specific path first, as API Gateway chooses. */
export function createRouter(routes: ApiRoute[]): (method: string, path: string) => RouteMatch | undefined {
  const fallback = routes.find((route) => route.routeKey === '$default');
  const parsed = routes
    .filter((route) => route !== fallback)
    .map(parseRoute)
    .sort((a, b) => compare(a.specificity, b.specificity));
  return (method, path) => {
    const segments = path.split('/').slice(1);
    for (const { route, method: routeMethod, segments: pattern } of parsed) {
      if (routeMethod !== 'ANY' && routeMethod !== method) continue;
      const pathParameters = matchSegments(pattern, segments);
      if (pathParameters) return { ...route, pathParameters };
    }
    return fallback && { ...fallback, pathParameters: {} };
  };
}

function parseRoute(route: ApiRoute): ParsedRoute {
  const [method = 'ANY', path = '/'] = route.routeKey.split(' ');
  const segments = path.split('/').slice(1);
  // Compared segment by segment. Among equal paths a named method beats ANY.
  const specificity = segments.map(rank).join('') + (method === 'ANY' ? '9' : '8');
  return { route, method, segments, specificity };
}

function rank(segment: string): string {
  if (isGreedy(segment)) return '2';
  return isParameter(segment) ? '1' : '0';
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function matchSegments(pattern: string[], segments: string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    if (isGreedy(part)) {
      const rest = segments.slice(index).join('/');
      if (rest === '') return undefined;
      parameters[part.slice(1, -2)] = decode(rest);
      return parameters;
    }
    const segment = segments[index];
    if (segment === undefined) return undefined;
    if (isParameter(part)) {
      if (segment === '') return undefined;
      parameters[part.slice(1, -1)] = decode(segment);
    } else if (part !== segment && part !== decode(segment)) {
      return undefined;
    }
  }
  return pattern.length === segments.length ? parameters : undefined;
}

function isGreedy(segment: string): boolean {
  return segment.startsWith('{') && segment.endsWith('+}');
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{') && segment.endsWith('}');
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
