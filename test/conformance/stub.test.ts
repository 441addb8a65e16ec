import { describe } from 'node:test';
import { openBank } from '../unit/provider/stub/open-bank.ts';
import { conformance } from './suite.ts';

describe('the stub', () => {
  conformance(async ({ notify }) => {
    const { bank, provider, clock } = openBank({ notify });
    return { bank, provider, clock, close: () => bank.close() };
  });
});
