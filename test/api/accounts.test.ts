/** The tests of logins, sessions and accounts, in one process. */
import { runSuite } from '../support/suite.ts';

await runSuite(import.meta.dirname, ['accounts', 'auth']);
