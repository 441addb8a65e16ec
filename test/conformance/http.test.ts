import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { createHttpClient } from '../../src/provider/http/client.ts';
import { createHttpProvider } from '../../src/provider/http/index.ts';
import { createSandbox } from '../../src/provider/sandbox/server.ts';
import { checkedClient } from '../unit/provider/provider-contract.ts';
import { openBank } from '../unit/provider/stub/open-bank.ts';
import { conformance } from './suite.ts';
import { dialects } from '../support/dialects.ts';

describe('the HTTP client over the sandbox', () => {
  conformance(async ({ notify }) => {
    const { bank, clock } = openBank({ notify });
    const ledger = () => ({ payments: [], refused: [], charges: [], received: [], persons: [] });
    const sandbox = createSandbox({ bank, ledger, clock, host: '127.0.0.1', port: 0 });
    await sandbox.listen();
    const client = checkedClient(createHttpClient({ baseUrl: sandbox.url, timeoutMs: 10_000 }));
    const provider = createHttpProvider({ client, clock, ispb: '11165756', dialects });
    return {
      bank,
      provider,
      clock,
      async close() {
        await client.close();
        await sandbox.close();
        await bank.close();
        assert.deepEqual(client.breaches, [], 'what was sent and answered is in the contract');
      },
    };
  });
});
