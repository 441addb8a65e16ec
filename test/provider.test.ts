/** The tests of the provider, simulated and over HTTP, in one process. */
import { runSuite } from './support/suite.ts';

await runSuite(import.meta.dirname, ['conformance', 'unit/provider']);
