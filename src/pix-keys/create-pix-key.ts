import type { CreatePixKeyRequest } from '../../contract/types.ts';
import { taxIdKind, type TaxIdKind } from '../domain/tax-id.ts';
import { toE164 } from '../domain/contact.ts';
import { maxPixKeyLength, normalisePixKey } from '../domain/pix-key.ts';
import { notAnEmail, tooLong } from '../domain/validation-errors.ts';
import { invalidField, type ProviderErrorCode, type Text } from '../errors.ts';
import type { AccountRef } from '../provider/provider.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { addPixKeys, findKeysVersion } from '../accounts/pix-key-repository.ts';
import { accountForPix } from '../accounts/payer-account.ts';
import type { PrincipalUser } from '../domain/principal.ts';
import type { Context } from '../context/context.ts';
import { changeAtProvider } from '../auth/provider-failure.ts';
import type { SessionOperation } from '../context/operation.ts';

/**
 * Creates a Pix key for the caller's account at the provider. The key is stored, to find the payee
 * of a received Pix.
 */
export const createPixKey: SessionOperation<'createPixKey'> = {
  access: 'session',
  checkRefused(context, { body: { key_type: type, email }, principal }) {
    if (!type) return;
    const account = accountForPix(context, principal);
    chooseKey(context, { key_type: type, ...(email && { email }) }, { ...principal, account });
  },
  async run(context, { input, principal, request }) {
    const account = accountForPix(context, principal);
    const key = chooseKey(context, input.body, { ...principal, account });
    const session = callerSession(context, principal);
    const newKey = { keyType: input.body.key_type, key, account };
    const seen = await findKeysVersion(context);
    const data = await changeAtProvider(
      context.provider.createKey({ session, ...newKey, ...request.callOptions }),
      refusalCodes,
    );
    if (principal.account) {
      const keys = context.dialects.readCreatedKeys(data, key);
      await addPixKeys(context, { accountId: principal.account.id, keys, seen });
    }
    return { status: 201, body: { data } };
  },
};

/**
 * The directory's own reasons (DICT API 1.8.0, error types), which providers pass on, and Celcoin's
 * word for the limit.
 */
const refusalCodes: ReadonlyMap<string, ProviderErrorCode> = new Map([
  ['EntryLimitExceeded', 'PIX_KEY_LIMIT'],
  ['ALIAS_LIMIT_ERROR', 'PIX_KEY_LIMIT'],
  ['EntryAlreadyExists', 'PIX_KEY_TAKEN'],
  ['EntryKeyOwnedByDifferentPerson', 'PIX_KEY_TAKEN'],
  ['EntryKeyInCustodyOfDifferentParticipant', 'PIX_KEY_TAKEN'],
]);

/**
 * The key's value: the directory accepts only values of the holder.
 * @returns null for a random key, which the directory generates.
 */
function chooseKey(
  context: Context,
  body: CreatePixKeyRequest,
  { user, account }: { readonly user: PrincipalUser; readonly account: AccountRef },
): string | null {
  switch (body.key_type) {
    case 'CPF':
    case 'CNPJ':
      return ownDocument(account.document, body.key_type);
    case 'CELULAR':
      return ownPhone(user.phone);
    case 'E_MAIL':
      return allowedEmail(context, body.email, user.email);
    case 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO':
      return null;
  }
}

function ownDocument(document: string, kind: TaxIdKind): string {
  if (taxIdKind(document) === kind) return document;
  throw invalidField('key_type', {
    en: `The account's document is not a ${kind}.`,
    pt: `O documento da conta não é um ${kind}.`,
  });
}

const otherEmail: Text = {
  en: 'The key must be the e-mail of your login.',
  pt: 'A chave deve ser o e-mail com que você entra.',
};

/** The provider verifies who receives mail at another address (BACEN's DICT manual requires it). */
function allowedEmail({ config }: Context, typed: string | undefined, own: string): string {
  const { kind, key } = normalisePixKey(typed ?? own);
  if (key.length > maxPixKeyLength) throw invalidField('email', tooLong(maxPixKeyLength));
  if (kind !== 'EMAIL') throw invalidField('email', notAnEmail);
  if (config.pixKeyOwnEmail && key !== own.toLowerCase()) throw invalidField('email', otherEmail);
  return key;
}

const noPhone: Text = {
  en: 'No phone number is registered for this user.',
  pt: 'Não há telefone cadastrado para este usuário.',
};

function ownPhone(phone: string | null): string {
  const key = phone === null ? null : toE164(phone);
  if (key === null) throw invalidField('key_type', noPhone);
  return key;
}
