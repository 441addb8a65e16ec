/** The tests of the console and the pages, in one process. */
import { runSuite } from '../support/suite.ts';

await runSuite(import.meta.dirname, ['console', 'pages']);
