/** `user create`: a user without an onboarding, made by an operator. */
import type { LocalContext } from '../context.ts';
import { readPerson } from '../domain/person.ts';
import { createUser as create, findUserWith } from '../auth/user-repository.ts';
import { OpError, type Op } from './op.ts';
import { recordUnitOfWork } from './operator-action-repository.ts';

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

/**
 * Makes a user by the rules of a registration.
 * @throws OpError when a field breaks a rule, or the e-mail or the document is another user's.
 */
export const createUser: Op<UserCreateInput, UserCreated> = {
  async run(context, input, { operator }) {
    const reading = readPerson({ ...input, password_confirmation: input.password });
    if (reading.errors) {
      const errors = Object.entries(reading.errors).map(([field, [text]]) => [field, text?.en]);
      throw new OpError('REFUSED', errors.map((error) => error.join(': ')).join(' '));
    }
    const person = reading.value;
    const passwordHash = await context.passwords.hash(person.password);
    const action = { operator, command: 'user create' };
    const id = await recordUnitOfWork(context, action, async (transaction) => {
      const made = await create(transaction, { ...person, passwordHash, personType: 'PF' });
      if (made === null) throw await taken(transaction, person);
      return { result: made, targets: [`user:${made}`], outcome: 'made' };
    });
    return { id, email: person.email };
  },
};

async function taken(
  context: LocalContext,
  person: { readonly email: string; readonly document: string },
): Promise<OpError> {
  const other = await findUserWith(context, person);
  const what = other?.hasEmail ? 'the e-mail' : 'the document';
  return new OpError('REFUSED', `${what} belongs to user ${other?.id ?? '(gone since)'} already`);
}
