/** The tests of the HTTP layer, in one process. */
import { runSuite } from '../support/suite.ts';

await runSuite(import.meta.dirname, ['http']);
