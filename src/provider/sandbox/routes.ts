/** All the provider's paths, and which of them a request is for. */
import { bankingRoutes } from './banking-routes.ts';
import { onboardingRoutes } from './onboarding-routes.ts';
import type { Route } from './route.ts';

/** A route that a path leads to, and what stands in the path's open places. */
export interface Match {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Tells the routes that a path leads to: several, where they differ by their method. */
export type Router = (path: string) => Match[];

const banking = compiled('/internal/api/v1/', bankingRoutes);
const onboarding = compiled('/core/v2/', onboardingRoutes);

/** The paths that fault rules may name. */
export const routePaths: ReadonlySet<string> = new Set(
  [...bankingRoutes, ...onboardingRoutes].map(({ path }) => path),
);

/** @param hasOnboarding whether the host offers the opening of accounts: those tried did not. */
export function createRouter(hasOnboarding: boolean): Router {
  const routes = hasOnboarding ? [...banking, ...onboarding] : banking;
  return (path) =>
    routes.flatMap(({ route, pattern }) => {
      const match = pattern.exec(path);
      return match === null ? [] : [{ route, parameters: decoded(match.groups ?? {}) }];
    });
}

function compiled(base: string, routes: readonly Route[]) {
  return routes.map((route) => ({ route, pattern: patternOf(base + route.path) }));
}

/** Lets `{id}` match any part between two slashes. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

function decoded(parameters: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, decodedPart(value)]),
  );
}

/** What is not well encoded stands for itself: the bank knows nobody by it. */
function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
