/**
 * Single doors: what exactly one file may do. Where another file has a good reason, it becomes a
 * keeper of the door here, with the reason and with no more names than it needs.
 */
import type { Place, Source } from './source.ts';

export interface Door {
  readonly name: string;
  /** The files that it is kept in. */
  readonly within: RegExp;
  /** Names of globals, as `Source.uses` has them. */
  readonly uses: RegExp;
  /** Modules that lead around it. */
  readonly modules: RegExp;
  /** Who may pass, with the reason. */
  readonly keepers: ReadonlyMap<string, Passage>;
  readonly instead: string;
}

interface Passage {
  readonly because: string;
  /** Only these names; all of them when absent. */
  readonly only?: RegExp;
}

const ourCode = /^(?:src|bin)\//;

export const environmentDoor: Door = {
  name: 'the environment',
  within: ourCode,
  uses: /^process(?:\.env)?$/,
  modules: /^(?:node:)?process$/,
  keepers: new Map([['src/config/config.ts', { because: 'it is the door' }]]),
  instead:
    'Add a setting to src/config/schema.ts and to .env.example, and take it from the Config.',
};

export const clockDoor: Door = {
  name: 'the clock',
  within: ourCode,
  uses: new RegExp(
    [
      String.raw`^Date\.now$`,
      String.raw`^(?:new )?Date\(\)$`,
      String.raw`^performance\.(?:now|timeOrigin)$`,
      String.raw`^process\.(?:hrtime|uptime)$`,
      String.raw`^Temporal\.Now$`,
      String.raw`^AbortSignal\.timeout$`,
      '^set(?:Timeout|Interval|Immediate)$',
    ].join('|'),
  ),
  modules: /^(?:node:)?(?:timers(?:\/promises)?|perf_hooks)$/,
  keepers: new Map<string, Passage>([['src/clock.ts', { because: 'it is the door' }]]),
  instead: 'Take a Clock: `clock.now()`, `clock.after(delayMs, work)` or `pause(clock, delayMs)`.',
};

export const providerDoor: Door = {
  name: 'the provider',
  within: /^src\//,
  uses: /^(?:fetch|WebSocket|EventSource|node:https?#(?:request|get))$/,
  modules: /^(?:undici|(?:node:)?(?:https|http2|tls))$/,
  keepers: new Map([
    ['src/provider/http/pool.ts', { because: 'it is the door' }],
    [
      'src/provider/http/own-connections.ts',
      { because: 'it has those of payments', only: /^undici$/ },
    ],
    ['src/provider/http/http2-connection.ts', { because: 'it carries them as streams' }],
    ['src/provider/http/client.ts', { because: 'it names the type of the pool', only: /^undici$/ }],
    ['src/app-events/deliver.ts', { because: "it calls the app's backend", only: /^undici$/ }],
    ['src/provider/reachability.ts', { because: 'it asks for nothing, without credentials' }],
    ['src/operator/deploy/health-check.ts', { because: 'it calls its own container' }],
  ]),
  instead:
    'Only src/provider/http/pool.ts connects to the provider: use the port, context.provider.',
};

export interface Trespass extends Place {
  readonly what: string;
}

/** Where a file goes past a door. */
export function trespasses(door: Door, source: Source): Trespass[] {
  const passage = door.keepers.get(source.path);
  return passings(door, source).filter(
    ({ what }) => !(passage && (passage.only?.test(what) ?? true)),
  );
}

/** The keepers that do not pass, or that are no more. */
export function idleExceptions(door: Door, sources: readonly Source[]): string[] {
  return [...door.keepers.keys()].filter((path) => {
    const source = sources.find((one) => one.path === path);
    return !source || passings(door, source).length === 0;
  });
}

function passings(door: Door, source: Source): Trespass[] {
  if (!door.within.test(source.path)) return [];
  const uses = source.uses.filter(({ name }) => door.uses.test(name));
  const modules = source.imports.filter(({ specifier }) => door.modules.test(specifier));
  return [
    ...uses.map(({ path, line, name }) => ({ path, line, what: name })),
    ...modules.map(({ path, line, specifier }) => ({ path, line, what: specifier })),
  ];
}
