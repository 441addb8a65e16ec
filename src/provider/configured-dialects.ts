/** Opens the dialects that the configuration names. */
import { ConfigError, type Config } from '../config/config.ts';
import type { Dialects } from './dialect/dialects.ts';
import { DialectError, openDialects } from './dialect/load.ts';

/** @throws ConfigError with every fault of the active dialects, for the setting of the files. */
export function configuredDialects({ provider: { dialects } }: Pick<Config, 'provider'>): Dialects {
  try {
    return openDialects(dialects);
  } catch (error) {
    if (!(error instanceof DialectError)) throw error;
    const name = dialects.files.length > 0 ? 'PROVIDER_DIALECT_FILES' : 'PROVIDER_DIALECTS';
    throw new ConfigError(
      error.faults.map((fault) => ({ name, message: `cannot be used: ${fault}` })),
    );
  }
}
