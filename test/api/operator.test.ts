/** The tests of the commands and of their operations, in one process. */
import { runSuite } from '../support/suite.ts';

await runSuite(import.meta.dirname, ['bin', 'operator']);
