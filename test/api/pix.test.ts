/** The tests of payments, charges, PIX keys and disputes, in one process. */
import { runSuite } from '../support/suite.ts';

await runSuite(import.meta.dirname, ['pix', 'pix-keys', 'disputes']);
