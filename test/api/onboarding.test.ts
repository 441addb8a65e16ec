/** The tests of onboarding, in one process. */
import { runSuite } from '../support/suite.ts';

await runSuite(import.meta.dirname, ['onboarding']);
