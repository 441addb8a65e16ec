/** A form for one operation of the contract: its input, its faults, and the call that sends it. */
import { randomUUID } from 'node:crypto';
import { useEffect } from 'react';
import type { OperationId } from '../../contract/types.ts';
import type { OperationRequest } from '../../contract/client/request.ts';
import { readFaults, type OperationResponse } from '../api.ts';
import { changeForm } from '../state/app-state.ts';
import { buildRequest, contractFields } from '../state/contract.ts';
import type { Field, Inputs, Values } from '../state/contract.ts';
import * as forms from '../state/form.ts';
import { otherFaults, writing, type Notice } from '../state/notice.ts';
import { orderTexts, type OrderKind } from '../state/outcomes.ts';
import { useApp } from './use-app.ts';
import { useCall, type Call } from './use-call.ts';
import { useDoubt, type Doubt } from './use-doubt.ts';
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
  readonly order?: OrderKind;
  /** @returns the question before these values are sent for the first time. */
  ask?(values: Values): string;
  /** Receives a response of any status; `values` are those that were sent. */
  onResponse?(
    response: OperationResponse<Id>,
    sent: { readonly values: Values; readonly signal: AbortSignal },
  ): void | Promise<void>;
}

export interface Form<Id extends OperationId = OperationId> extends Pick<Doubt, 'sentKey'> {
  readonly fields: readonly Field[];
  readonly state: forms.FormState;
  readonly call: Call<OperationResponse<Id>>;
  /** The state of the call, or the faults that belong to no field. */
  readonly notice: Notice | null;
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

/** The input stays in the app state, so that leaving the screen loses nothing. */
export function useForm<Id extends OperationId>(options: FormOptions<Id>): Form<Id> {
  const { name, operation, given = {}, doing, order, ask, onResponse } = options;
  const texts = order && orderTexts[order];
  const { slow = texts?.slow, warning = texts?.noResponse } = options;
  const { api, state: app, change: changeApp } = useApp();
  const call = useCall<OperationResponse<Id>>({ warning });
  const draft = app.drafts[name];
  const inputs = { [keyName]: { hint: keyHint }, ...options.inputs };
  const all = contractFields(operation, inputs, draft?.values ?? {});
  const fields = all.filter((field) => !(field.name in given));
  const state = draft ?? forms.newForm(fields);
  const change = (changed: (draft: forms.FormState) => forms.FormState): void =>
    changeApp(changeForm(name, (now) => changed(now ?? forms.newForm(fields))));
  const refuse = (faults: forms.Faults): void => change((now) => forms.refuse(now, fields, faults));
  const fillIn: Form['fillIn'] = (values, focus) =>
    change((now) => {
      const filled = forms.fillIn(now, values(now));
      return focus === undefined ? filled : { ...filled, focus };
    });
  const setKey = (key: string): void => fillIn(() => ({ [keyName]: key }));
  const doubt = useDoubt({ form: name, kind: order, restore: setKey });
  const send = (values: Values): void => {
    const end = doubt.begin(String(values[keyName]));
    call.run(async (signal) => {
      // The contract says where each value goes, so the parts are those of the operation.
      const request = buildRequest(all, { ...withoutUnset(given), ...values }) as unknown;
      const response = await api.call(operation, request as OperationRequest<Id>, signal);
      end(response);
      refuse(readFaults(response));
      await onResponse?.(response, { values, signal });
      return response;
    });
  };
  const submit = (): void => {
    const faults = forms.blockingFaults(state, fields);
    refuse(faults);
    if (Object.keys(faults).length > 0) return;
    const values = forms.readValues(state, fields);
    doubt.guard(String(values[keyName]), () => send(values), ask?.(values));
  };
  const hasKey = fields.some((field) => field.name === keyName);
  useEffect(() => {
    if (hasKey && !state.values[keyName]) setKey(randomUUID());
  }, []);
  const press = (pressed: Press): boolean => {
    if (call.isBusy) {
      if (pressed.key === 'escape') call.cancel();
      return true;
    }
    if (doubt.press(pressed)) return true;
    if (hasKey && pressed.key === 'ctrl+n') {
      const key = randomUUID();
      doubt.guard(key, () => {
        call.clear();
        setKey(key);
      });
      return true;
    }
    if (forms.isSubmit(state, pressed)) {
      submit();
      return true;
    }
    // A response may have changed the form since it was drawn.
    change((now) => forms.pressForm(now, fields, pressed));
    return forms.pressForm(state, fields, pressed) !== state;
  };
  const { sentKey, notice: question } = doubt;
  const notice = question ?? writing(call, doing, slow) ?? otherFaults(state.faults, fields);
  return { fields, state, call, sentKey, notice, press, send, fillIn, refuse };
}

function withoutUnset(given: NonNullable<FormOptions<OperationId>['given']>): Values {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
