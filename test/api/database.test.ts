/** The tests of the database and of the log's redaction, in one process. */
import { runSuite } from '../support/suite.ts';

await runSuite(import.meta.dirname, ['db', 'redaction']);
