/** The tests of other code that needs no service, in one process. */
import { runSuite } from './support/suite.ts';

await runSuite(import.meta.dirname, [
  'unit/chaos',
  'unit/config',
  'unit/contract',
  'unit/db',
  'unit/domain',
  'unit/ledger',
  'unit/pix',
  'unit/security',
  'unit/settlement',
  'unit/support',
  'unit/telemetry',
]);
