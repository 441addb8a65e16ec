/** The tests of payments, charges and PIX keys, in one process. */
import { runSuite } from '../support/suite.ts';

await runSuite(import.meta.dirname, ['pix', 'pix-keys']);
