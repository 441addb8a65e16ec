/** The tests of the simulation and of its model of PostgreSQL, in one process. */
import { runSuite } from './support/suite.ts';

await runSuite(import.meta.dirname, ['postgres-model', 'simulation']);
