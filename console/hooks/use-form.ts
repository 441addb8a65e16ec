/** A form for one operation of the contract: its input, its faults, and the call that sends it. */
import { randomUUID } from 'node:crypto';
import { useEffect } from 'react';
import type { OperationId } from '../../contract/types.ts';
import type { OperationRequest } from '../../contract/client/request.ts';
import { readFaults, type OperationResponse, type ServiceResponse } from '../api.ts';
import { changeForm, type Order } from '../state/app-state.ts';
import { buildRequest, contractFields } from '../state/contract.ts';
import type { Field, Inputs, Values } from '../state/contract.ts';
import * as forms from '../state/form.ts';
import { otherFaults, writing, type Notice } from '../state/notice.ts';
import { canGiveUp, orderTexts, type OrderKind } from '../state/outcomes.ts';
import { useApp } from './use-app.ts';
import { useCall, type Call } from './use-call.ts';
import { useDoubt, type Wanted } from './use-doubt.ts';
import type { Press } from './use-keys.ts';

export interface FormOptions<Id extends OperationId> {
  /** The name that the input is kept under while other screens are shown. */
  readonly name: string;
  readonly operation: Id;
  /** The screen's own texts for fields of the contract. */
  readonly inputs?: Inputs;
  /** Values that a person does not type, such as the id of an application. */
  readonly given?: Readonly<Record<string, Values[string] | undefined>>;
  /** The name of the running call, such as `Sending`. */
  readonly doing?: string;
  /** The text for a person while the response takes long. */
  readonly slow?: string;
  /** The text for a person when there is no response. */
  readonly warning?: string;
  /** What moves money: then another one needs consent while one is in doubt. */
  readonly order?: FormOrder;
  /** @returns the question before these values are sent for the first time. */
  ask?(values: Values): string;
  /** Receives a response of any status; `values` are those that were sent. */
  onResponse?(
    response: OperationResponse<Id>,
    sent: { readonly values: Values; readonly signal: AbortSignal },
  ): void | Promise<void>;
}

export interface FormOrder {
  readonly kind: OrderKind;
  /** Closes the key of an order, or answers the order that has it. */
  cancel(key: string, signal: AbortSignal): Promise<ServiceResponse>;
}

export interface Form<Id extends OperationId = OperationId> {
  readonly fields: readonly Field[];
  readonly state: forms.FormState;
  readonly call: Call<OperationResponse<Id>>;
  /** The state of the call, or the faults that belong to no field. */
  readonly notice: Notice | null;
  /** The order that was sent with this key. */
  readonly order: Order | undefined;
  /** Whether what is typed was not sent with this key. */
  readonly isNew: boolean;
  /** Takes a key, any key while the call is under way. @returns whether the form uses it. */
  press(press: Press): boolean;
  /** Sends these values instead of the typed ones. */
  send(values: Values): void;
  /** @param focus the field to type in next. */
  fillIn(values: (state: forms.FormState) => forms.FormState['values'], focus?: string): void;
  refuse(faults: forms.Faults): void;
}

/** The key of a payment, a return or a charge. It stays until a person makes a new one. */
export const keyName = 'Idempotency-Key';

const keyHint = 'the same key never pays twice; ctrl+n makes a new one';

/** The fields, and the input: it stays in the app state, so that leaving the screen keeps it. */
function useDraft({
  name,
  operation,
  given = {},
  ...options
}: Pick<FormOptions<OperationId>, 'name' | 'operation' | 'given' | 'inputs'>) {
  const { state: app, change: changeApp } = useApp();
  const draft = app.drafts[name];
  const inputs = { [keyName]: { hint: keyHint }, ...options.inputs };
  const all = contractFields(operation, inputs, draft?.values ?? {});
  const fields = all.filter((field) => !(field.name in given));
  const change = (changed: (draft: forms.FormState) => forms.FormState): void =>
    changeApp(changeForm(name, (now) => changed(now ?? forms.newForm(fields))));
  const refuse = (faults: forms.Faults): void => change((now) => forms.refuse(now, fields, faults));
  const fillIn: Form['fillIn'] = (values, focus) =>
    change((now) => {
      const filled = forms.fillIn(now, values(now));
      return focus === undefined ? filled : { ...filled, focus };
    });
  const hasKey = fields.some((field) => field.name === keyName);
  useEffect(() => {
    if (hasKey && !draft?.values[keyName]) fillIn(() => ({ [keyName]: randomUUID() }));
  }, []);
  return { all, fields, hasKey, state: draft ?? forms.newForm(fields), change, refuse, fillIn };
}

export function useForm<Id extends OperationId>(options: FormOptions<Id>): Form<Id> {
  const { name, operation, given = {}, doing, order, ask, onResponse } = options;
  const { slow = order && orderTexts[order.kind].slow, warning } = options;
  const { api } = useApp();
  const call = useCall<OperationResponse<Id>>({ warning });
  const { all, fields, hasKey, state, change, refuse, fillIn } = useDraft(options);
  const setKey = (key: string): void => {
    call.clear();
    fillIn(() => ({ [keyName]: key }));
  };
  const typed = forms.readValues(state, fields);
  const wanted = readWanted(typed);
  const doubt = useDoubt({ form: name, kind: order?.kind, wanted, restore: setKey });
  const run = (
    sent: Wanted,
    work: (signal: AbortSignal) => Promise<ServiceResponse>,
    values: Values = {},
  ): void => {
    const end = doubt.begin(sent);
    call.run(async (signal) => {
      const response = (await work(signal)) as OperationResponse<Id>;
      end(response);
      refuse(readFaults(response));
      await onResponse?.(response, { values, signal });
      return response;
    });
  };
  const send = (values: Values): void => {
    // The contract says where each value goes, so the parts are those of the operation.
    const request = buildRequest(all, { ...withoutUnset(given), ...values }) as unknown;
    const work = (signal: AbortSignal) =>
      api.call(operation, request as OperationRequest<Id>, signal);
    run(readWanted(values), work, values);
  };
  const submit = (): void => {
    const faults = forms.blockingFaults(state, fields);
    refuse(faults);
    if (Object.keys(faults).length > 0) return;
    const sendAs = (key: string): void => {
      if (hasKey) setKey(key);
      send({ ...typed, ...(hasKey && { [keyName]: key }) });
    };
    doubt.guard(wanted, sendAs, ask?.(typed));
  };
  const { order: sent, isNew } = doubt;
  const findAction = (pressed: Press): (() => void) | null => {
    if (forms.isSubmit(state, pressed)) return submit;
    if (hasKey && pressed.key === 'ctrl+n') {
      return () => doubt.guard({ key: randomUUID(), typed: '' }, setKey);
    }
    if (!order || !sent || !canGiveUp(sent.answer) || pressed.key !== 'ctrl+g') return null;
    // It is answered as the order itself.
    return () => run(sent, (signal) => order.cancel(sent.key, signal));
  };
  const press = (pressed: Press): boolean => {
    if (call.isBusy) {
      if (pressed.key === 'escape') call.cancel();
      return true;
    }
    if (doubt.press(pressed)) return true;
    const action = findAction(pressed);
    // A response may have changed the form since it was drawn.
    if (action) action();
    else change((now) => forms.pressForm(now, fields, pressed));
    return action !== null || forms.pressForm(state, fields, pressed) !== state;
  };
  const notice = doubt.notice ?? writing(call, doing, slow) ?? otherFaults(state.faults, fields);
  return { fields, state, call, notice, order: sent, isNew, press, send, fillIn, refuse };
}

function readWanted({ [keyName]: key = '', ...typed }: Values): Wanted {
  return { key: String(key), typed: JSON.stringify(typed) };
}

function withoutUnset(given: NonNullable<FormOptions<OperationId>['given']>): Values {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
