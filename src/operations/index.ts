/** The operations of the contract. An endpoint is added here, in one line, after its own file. */
import { getBalance } from './accounts/get-balance.ts';
import { getMe } from './accounts/get-me.ts';
import { getStatement } from './accounts/get-statement.ts';
import { registerPj } from './accounts/register-pj.ts';
import { login } from './auth/login.ts';
import { logout } from './auth/logout.ts';
import { notImplemented } from './not-implemented.ts';
import type { OperationTable } from './operation.ts';
import { createPixKey } from './pix-keys/create-pix-key.ts';
import { deletePixKey } from './pix-keys/delete-pix-key.ts';
import { listPixKeys } from './pix-keys/list-pix-keys.ts';
import { createCharge } from './pix/create-charge.ts';
import { getPixTransaction } from './pix/get-pix-transaction.ts';
import { sendPix } from './pix/send-pix.ts';
import { receiveProviderWebhook } from './webhooks/receive-provider-webhook.ts';

export const operations: OperationTable = {
  login,
  logout,
  getMe,
  getBalance,
  getStatement,
  registerPf: notImplemented(),
  registerPj,
  sendPix,
  createCharge,
  getPixTransaction,
  listPixKeys,
  createPixKey,
  deletePixKey,
  startOnboarding: notImplemented(),
  lookUpCep: notImplemented(),
  getOnboarding: notImplemented(),
  submitAddress: notImplemented(),
  submitDocument: notImplemented(),
  submitProposal: notImplemented(),
  requestElectronicValidation: notImplemented(),
  confirmElectronicValidation: notImplemented(),
  startProvaVida: notImplemented(),
  getKyc: notImplemented(),
  syncOnboarding: notImplemented(),
  receiveProviderWebhook,
};
