/**
 * The real client over the simulated bank in the same process, as with PROVIDER_STUB=true: what the
 * port promises, in every scenario. Everything that is sent and answered is in the contract.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { createHttpProvider } from '../../src/provider/http/index.ts';
import { dialects } from '../support/dialects.ts';
import { checkedClient } from '../unit/provider/provider-contract.ts';
import { makeClient, openBank } from '../unit/provider/sandbox/bank/open-bank.ts';
import { accountsConform } from './accounts.ts';
import { chargesConform } from './charges.ts';
import { disputesConform } from './disputes.ts';
import { onboardingConforms } from './onboarding.ts';
import { paymentsConform } from './payments.ts';
import { keysConform } from './pix-keys.ts';
import { scenariosConform } from './scenarios.ts';
import type { Open } from './target.ts';

const open: Open = async ({ notify }) => {
  const { bank, clock } = openBank({ notify });
  const client = checkedClient(makeClient(bank, clock));
  const provider = createHttpProvider({ client, clock, ispb: '11165756', dialects });
  return {
    bank,
    provider,
    clock,
    async close() {
      await client.close();
      await bank.close();
      assert.deepEqual(client.breaches, [], 'what was sent and answered is in the contract');
    },
  };
};

accountsConform(open);
paymentsConform(open);
chargesConform(open);
disputesConform(open);
keysConform(open);
describe('onboarding', () => onboardingConforms(open));
scenariosConform(open);
