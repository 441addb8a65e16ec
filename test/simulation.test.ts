/** The tests of the simulation, in one process. */
import { runSuite } from './support/suite.ts';

await runSuite(import.meta.dirname, ['simulation']);
