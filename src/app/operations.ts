/** The table of operations: one line for each endpoint. */
import { getBalance } from '../accounts/get-balance.ts';
import { getMe } from '../accounts/get-me.ts';
import { getStatement } from '../pix/get-statement.ts';
import { registerPf } from '../onboarding/register-pf.ts';
import { registerPj } from '../onboarding/register-pj.ts';
import { login } from '../login/login.ts';
import { logout } from '../login/logout.ts';
import { confirmElectronicValidation } from '../onboarding/confirm-electronic-validation.ts';
import { getKyc } from '../onboarding/get-kyc.ts';
import { getOnboarding } from '../onboarding/get-onboarding.ts';
import { lookUpCep } from '../onboarding/look-up-cep.ts';
import { requestElectronicValidation } from '../onboarding/request-electronic-validation.ts';
import { startOnboarding } from '../onboarding/start-onboarding.ts';
import { startProvaVida } from '../onboarding/start-prova-vida.ts';
import { submitAddress } from '../onboarding/submit-address.ts';
import { submitDocument } from '../onboarding/submit-document.ts';
import { submitProposal } from '../onboarding/submit-proposal.ts';
import { syncOnboarding } from '../onboarding/sync-onboarding.ts';
import type { OperationTable } from '../context/operation.ts';
import { createPixKey } from '../pix-keys/create-pix-key.ts';
import { deletePixKey } from '../pix-keys/delete-pix-key.ts';
import { listPixKeys } from '../pix-keys/list-pix-keys.ts';
import { getDispute } from '../disputes/get-dispute.ts';
import { openDispute } from '../disputes/open-dispute.ts';
import { withdrawDispute } from '../disputes/withdraw-dispute.ts';
import { cancelPix } from '../pix/cancel-pix.ts';
import { cancelRefund } from '../pix/cancel-refund.ts';
import { createCharge } from '../pix/create-charge.ts';
import { decodePixCode } from '../pix/decode-pix-code.ts';
import { getPixLimits } from '../pix/get-pix-limits.ts';
import { getPixReceipt } from '../pix/get-pix-receipt.ts';
import { getPixTransaction } from '../pix/get-pix-transaction.ts';
import { listPixTransactions } from '../pix/list-pix-transactions.ts';
import { lookUpPixKey } from '../pix/look-up-pix-key.ts';
import { refundPix } from '../pix/refund-pix.ts';
import { sendPix } from '../pix/send-pix.ts';
import { setPixLimits } from '../pix/set-pix-limits.ts';
import { receiveProviderWebhook } from '../settlement/receive-provider-webhook.ts';

export const operations: OperationTable = {
  login,
  logout,
  getMe,
  getBalance,
  getStatement,
  registerPf,
  registerPj,
  sendPix,
  cancelPix,
  createCharge,
  decodePixCode,
  lookUpPixKey,
  listPixTransactions,
  getPixTransaction,
  getPixReceipt,
  openDispute,
  getDispute,
  withdrawDispute,
  refundPix,
  cancelRefund,
  getPixLimits,
  setPixLimits,
  listPixKeys,
  createPixKey,
  deletePixKey,
  startOnboarding,
  lookUpCep,
  getOnboarding,
  submitAddress,
  submitDocument,
  submitProposal,
  requestElectronicValidation,
  confirmElectronicValidation,
  startProvaVida,
  getKyc,
  syncOnboarding,
  receiveProviderWebhook,
};
