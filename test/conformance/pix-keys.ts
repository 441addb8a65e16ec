import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failure, payer, rejected } from '../unit/provider/sandbox/bank/open-bank.ts';
import { customer, keyNotFound, type Open } from './target.ts';

/** The keys of an account. */
export function keysConform(open: Open): void {
  describe('keys', () => {
    it('are created, listed and deleted, with the payload of the directory', async () => {
      const { provider, session } = await customer(open);
      const key = { keyType: 'E_MAIL', key: 'dev@ponte.test', account: payer } as const;
      const created = await provider.createKey({ session, ...key });
      assert.deepEqual(created, {
        key: 'dev@ponte.test',
        keyType: 'E_MAIL',
        account: {
          participant: '11165756',
          branch: '0001',
          accountNumber: '123456789',
          accountType: 'TRAN',
        },
        owner: { type: 'NATURAL_PERSON', taxIdNumber: payer.document },
        creationDate: '2026-05-24T12:00:00.000Z',
        keyOwnershipDate: '2026-05-24T12:00:00.000Z',
      });
      const evp = await provider.createKey({
        session,
        keyType: 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO',
        key: null,
        account: payer,
      });
      assert.match(String(evp['key']), /^[0-9a-f-]{36}$/);
      const listed = await provider.listKeys({ session, account: payer });
      assert.deepEqual(listed['keys'], [created, evp]);
      assert.deepEqual(
        await provider.deleteKey({ session, key: 'dev@ponte.test', account: payer }),
        { key: 'dev@ponte.test', participant: '11165756', reason: 'USER_REQUESTED' },
      );
      assert.deepEqual((await provider.listKeys({ session, account: payer }))['keys'], [evp]);
    });

    it('are refused when they are taken or have another form', async () => {
      const { provider, session } = await customer(open);
      const key = { keyType: 'CELULAR', key: '+5511987654321', account: payer } as const;
      await provider.createKey({ session, ...key });
      assert.deepEqual(
        await failure(provider.createKey({ session, ...key })),
        rejected('EntryAlreadyExists'),
      );
      const wrong = provider.createKey({ session, ...key, key: '11987654321' });
      assert.deepEqual(await failure(wrong), rejected('EntryInvalid'));
    });

    it('are not found when they are not the account’s', async () => {
      const { provider, session } = await customer(open);
      const call = provider.deleteKey({ session, key: 'maria@example.com', account: payer });
      assert.deepEqual(await failure(call), keyNotFound);
    });
  });
}
