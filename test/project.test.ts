/** The tests of the sources, the documents and the tools, in one process. */
import { runSuite } from './support/suite.ts';

await runSuite(import.meta.dirname, ['architecture', 'bench', 'documents', 'fuzz']);
