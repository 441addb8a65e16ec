/** The tests of jobs and of settlement, in one process. */
import { runSuite } from '../support/suite.ts';

await runSuite(import.meta.dirname, ['jobs', 'settlement']);
