/** Checks for `doctor` whether commits survive. */
import type { Config } from '../config/config.ts';
import { bad, doubtful, ok, type Finding } from './finding.ts';
import type { Durability } from './inspect-database.ts';

/** What to do where a connection lacks the settings that Ponte asks for. */
export const passOptions =
  'configure the connection pooler to pass startup options to the database';

/**
 * Checks whether the stored step of a payment survives a crash and a failover.
 * @param found the settings of the server.
 * @param declared the setting DATABASE_FAILOVER.
 */
export function durability(found: Durability, declared: Config['databaseFailover']): Finding {
  const name = 'durability';
  const { fsync, fullPageWrites, synchronousCommit } = found;
  const settings = { fsync, full_page_writes: fullPageWrites };
  const [off] = Object.entries(settings).find(([, value]) => value !== 'on') ?? [];
  if (off !== undefined) {
    return bad(name, `${off} is off: a crash can lose stored payments`, `set ${off}=on, restart`);
  }
  if (synchronousCommit === 'off' || synchronousCommit === 'local') {
    const says = `synchronous_commit is ${synchronousCommit}: a commit can be lost`;
    return bad(name, says, passOptions);
  }
  return failover(found, declared);
}

/** Checks what a failover loses. Of storage that is replicated only the declaration is known. */
function failover(
  { hasSynchronousStandby, standbys }: Durability,
  declared: Config['databaseFailover'],
): Finding {
  const name = 'durability';
  const onDisk = 'a commit is on disk before it is acknowledged';
  if (hasSynchronousStandby) return ok(name, `${onDisk}, and on a standby`);
  switch (declared) {
    case 'synchronous-standby':
      return bad(
        name,
        'no standby is synchronous, which DATABASE_FAILOVER declares: a failover loses commits',
        'set synchronous_standby_names on the server',
      );
    case 'synchronous-storage':
      return ok(name, `${onDisk}, and DATABASE_FAILOVER declares replicated storage`);
    case 'asynchronous':
      return ok(
        name,
        `${onDisk}; a failover loses the last commits, as DATABASE_FAILOVER declares: ` +
          'its script pauses sends',
      );
    case 'none':
    case undefined:
      if (standbys === 0) return ok(name, `${onDisk}, and no standby is connected`);
      return doubtful(
        name,
        `no standby is synchronous, of ${standbys}: a failover loses the last commits`,
        'set synchronous_standby_names, or DATABASE_FAILOVER as "Failover" in the handbook says',
      );
  }
}
