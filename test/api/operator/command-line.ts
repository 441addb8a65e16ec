/** Command lines beside a service that runs, in the test's own process. */
import type { TestApp } from '../../support/app.ts';
import { typePonte, type Ended, type Typed as TypedAnywhere } from '../../support/command-line.ts';

export type { Ended };

export interface Typed extends Pick<TypedAnywhere, 'stdin' | 'typing'> {
  /** The input of a person at a terminal, typed at the prompt. */
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs `ponte` with these arguments beside a service that runs. */
export function runPonte(
  app: TestApp,
  argv: readonly string[],
  { input, environment = {}, ...typed }: Typed = {},
): Promise<Ended> {
  const { databaseUrl, dataDir } = app.database;
  return typePonte(argv, {
    ...typed,
    ...(input !== undefined && { typing: [[/\?/, input]] }),
    clock: app.clock,
    environment: {
      APP_ENV: 'test',
      DATA_DIR: dataDir,
      PORT: new URL(app.url).port,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ...environment,
    },
  });
}
