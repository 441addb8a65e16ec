import { bearer, fetchResponse, type Case } from './case.ts';

export const balance: Case = {
  title: 'GET /accounts/balance',
  async prepare(target) {
    const requests = target.customers.map(
      (customer) =>
        ({ method: 'GET', path: '/api/v1/accounts/balance', headers: bearer(customer) }) as const,
    );
    return {
      plan: { requests },
      async check() {
        const [first] = requests;
        const body = first && (await fetchResponse(target, first)).body;
        const isRight = typeof body?.['balance'] === 'number' && body['source'] === 'provider';
        return isRight ? [] : ['the balance is not reported'];
      },
    };
  },
};
