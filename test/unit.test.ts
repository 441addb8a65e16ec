/** The tests of code that needs no service, in one process. */
import { runSuite } from './support/suite.ts';

await runSuite(import.meta.dirname, ['unit']);
