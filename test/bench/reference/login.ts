/** A login at the reference server. */
import { createHash, randomUUID } from 'node:crypto';
import type { Query } from './database.ts';
import * as statements from './login-statements.ts';
import type { Provider } from './provider.ts';
import { verifyPassword, type Sealer } from './security.ts';

export interface LoginParts {
  readonly query: Query;
  readonly provider: Provider;
  readonly sealer: Sealer;
  readonly perMinute: { readonly email: number; readonly address: number };
}

export interface Login {
  readonly userId: number;
  readonly sessionId: string;
}

export type LoginResult = Login | 'refused' | 'throttled';

interface UserRow {
  readonly id: number;
  readonly password_hash: string;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly address: string;
}

export function createLogin({ query, provider, sealer, perMinute }: LoginParts) {
  async function isUsedUp(key: string): Promise<boolean> {
    const [row] = await query<{ attempts: number }>(statements.readAttempts, [key]);
    return row !== undefined && row.attempts >= perMinute.email;
  }

  return async (credentials: Credentials): Promise<LoginResult> => {
    const email = credentials.email.trim().toLowerCase();
    const [counted] = await query<{ attempts: number }>(statements.countAttempt, [
      toKey('address', credentials.address),
    ]);
    if ((counted?.attempts ?? 0) > perMinute.address) return 'throttled';
    if (await isUsedUp(toKey('login-email', email))) return 'throttled';
    const [user] = await query<UserRow>(statements.findUser, [email]);
    if (!user || !(await verifyPassword(credentials.password, user.password_hash))) {
      await query(statements.countAttempt, [toKey('login-email', email)]);
      return 'refused';
    }
    const { token, account } = await provider.login(email, credentials.password);
    const { agency, accountNumber, document } = account;
    await query(statements.keepAccount, [user.id, agency, accountNumber, document]);
    const [session] = await query<{ id: string }>(statements.renewSession, [
      randomUUID(),
      user.id,
      sealer.seal(token, `user:${user.id}`),
    ]);
    if (!session) throw new Error('a session was neither opened nor renewed');
    return { userId: user.id, sessionId: session.id };
  };
}

function toKey(scope: string, subject: string): string {
  return `${scope}:${createHash('sha256').update(subject).digest('base64url')}`;
}
