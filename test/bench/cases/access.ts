import { logIn, password, type Target } from '../target.ts';
import { fetchResponse, bearer, failureFaults, jsonType, noNumbers, type Case } from './case.ts';

export const balance: Case = {
  name: 'balance',
  title: 'GET /accounts/balance',
  async prepare(target) {
    const requests = target.customers.map(
      (customer) =>
        ({ method: 'GET', path: '/api/v1/accounts/balance', headers: bearer(customer) }) as const,
    );
    return {
      plan: { requests, numbers: noNumbers },
      async finish(result) {
        const [first] = requests;
        const response = first && (await fetchResponse(target, first));
        const { balance: reported, source } = (response?.body ?? {}) as Record<string, unknown>;
        const isRight = typeof reported === 'number' && source === 'provider';
        return {
          faults: [...failureFaults(result), ...(isRight ? [] : ['the balance is not reported'])],
        };
      },
    };
  },
};

async function activeSessions({ client }: Target): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from banking_sessions where status = 'ACTIVE'`,
  );
  return rows[0]?.count ?? 0;
}

export const login: Case = {
  name: 'login',
  title: 'POST /auth/login',
  // The number of threads that hash passwords: more connections would only wait.
  maxConnections: 4,
  async prepare(target) {
    const { customers } = target;
    return {
      plan: {
        requests: customers.map(({ email }) => ({
          method: 'POST',
          path: '/api/v1/auth/login',
          headers: jsonType,
          body: JSON.stringify({ email, password }),
        })),
        numbers: noNumbers,
      },
      async finish(result) {
        // Logins of disconnected clients are still running: this login waits until they end.
        const [first] = customers;
        if (first) await logIn(target.server.url, first.email);
        const sessions = await activeSessions(target);
        return {
          faults: [
            ...failureFaults(result),
            ...(sessions === customers.length
              ? []
              : [`${customers.length} customers, ${sessions} active sessions`]),
          ],
        };
      },
    };
  },
};
