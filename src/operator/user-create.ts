/** `user create`: a user without an onboarding, made by an operator. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { readPerson } from '../domain/person.ts';
import { createUser as create } from '../auth/user-repository.ts';
import { OpError, type Op } from './op.ts';
import { recordAction } from './operator-actions.ts';

export interface UserCreateInput {
  readonly name: string;
  readonly email: string;
  readonly document: string;
  readonly phone: string;
  readonly password: string;
}

export interface UserCreated {
  readonly id: number;
  readonly email: string;
}

const takenBy: Statement = {
  name: 'ops-user-taken-by',
  text: `
    select id, lower(email) = lower($1) as by_email from users
     where lower(email) = lower($1) or document = $2 order by id limit 1`,
};

/**
 * Makes a user by the rules of a registration.
 * @throws OpError when a field breaks a rule, or the e-mail or the document is another user's.
 */
export const createUser: Op<UserCreateInput, UserCreated> = {
  async run(context, input, { operator }) {
    const reading = readPerson({ ...input, password_confirmation: input.password });
    if (reading.faults) {
      const faults = Object.entries(reading.faults).map(([field, [text]]) => [field, text?.en]);
      throw new OpError('REFUSED', faults.map((fault) => fault.join(': ')).join(' '));
    }
    const person = reading.value;
    const passwordHash = await context.passwords.hash(person.password);
    const action = { operator, command: 'user create' };
    const id = await recordAction(context, action, async (transaction) => {
      const made = await create(transaction, { ...person, passwordHash, personType: 'PF' });
      if (made === null) throw await taken(transaction, person);
      return { result: made, targets: [`user:${made}`], outcome: 'made' };
    });
    return { id, email: person.email };
  },
};

async function taken(
  context: LocalContext,
  { email, document }: { readonly email: string; readonly document: string },
): Promise<OpError> {
  const [other] = await context.db.query<{ id: number; by_email: boolean }>(takenBy, [
    email,
    document,
  ]);
  const what = other?.by_email ? 'the e-mail' : 'the document';
  return new OpError('REFUSED', `${what} belongs to user ${other?.id ?? '(gone since)'} already`);
}
