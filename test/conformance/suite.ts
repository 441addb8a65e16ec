/**
 * What every provider behind the port does alike. The stub and the real client over the sandbox
 * stand for the same bank, so the same questions get the same answers and the same failures.
 */
import { describe } from 'node:test';
import { accountsConform } from './accounts.ts';
import { chargesConform } from './charges.ts';
import { onboardingConforms } from './onboarding.ts';
import { paymentsConform } from './payments.ts';
import { keysConform } from './pix-keys.ts';
import { scenariosConform } from './scenarios.ts';
import type { Open } from './target.ts';

/** Runs the suite against a new target of `open` for every test. */
export function conformance(open: Open): void {
  accountsConform(open);
  paymentsConform(open);
  chargesConform(open);
  keysConform(open);
  describe('onboarding', () => onboardingConforms(open));
  scenariosConform(open);
}
