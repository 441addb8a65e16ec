import { useState } from 'react';
import type { Charge } from '../../contract/types.ts';
import { refusalsOf, type Answer } from '../api.ts';
import { chargeFields } from '../model/charge-fields.ts';
import { useDesk } from '../desk-context.ts';
import { bodyFor } from '../model/form-values.ts';
import type { Press } from '../model/keyboard.ts';
import { bad, ofCall, ofFaults, type Notice } from '../model/notice.ts';
import { noAnswerToCharge } from '../model/outcomes.ts';
import { useCall } from './use-call.ts';
import { useForm, type FormHandle } from './use-form.ts';
import { keyField, useKey, withKey } from './use-key.ts';
import { useKeys } from './use-keys.ts';
import { useLiveStatus, type Live } from './use-live-status.ts';

export interface ChargeView {
  readonly form: FormHandle;
  readonly answer: Answer<'createCharge'> | null;
  /** The charge to show; null while the form is. */
  readonly charge: Charge | null;
  readonly isReplay: boolean;
  readonly live: Live;
  /** The code's ink stands for what is dark: on a terminal that is light. */
  readonly isInverted: boolean;
  /** Shown in place of the code, where there is no room for both. */
  readonly isText: boolean;
  readonly notice: Notice | null;
}

/** Charges, and then shows the code and whether it has been paid. */
export function useCharge(): ChargeView {
  const { api, act, state } = useDesk();
  const call = useCall<Answer<'createCharge'>>({ warning: noAnswerToCharge });
  const [isInverted, setInverted] = useState(false);
  const [isText, setText] = useState(false);
  const form = useForm({
    name: 'charge',
    fields: chargeFields(state.drafts['charge']?.values ?? {}, keyField),
    operation: 'createCharge',
    onSubmit(typed) {
      const { values, headers } = withKey(typed);
      const body = bodyFor('createCharge', values);
      call.run(async (signal) => {
        const answer = await api.call('createCharge', { headers, body }, signal);
        form.refuse(refusalsOf(answer));
        return answer;
      });
    },
  });
  const key = useKey(form);
  const answer = call.result;
  const made = answer?.status === 200 ? answer.body : null;
  const live = useLiveStatus(made);
  const charge = made && live.status !== 'FAILED' ? made : null;
  const inCode = (press: Press): void => {
    if (press.text === 'i') setInverted(!isInverted);
    if (press.text === 't') setText(!isText);
  };
  useKeys((press) => {
    if (press.key === 'escape' && call.isBusy) call.cancel();
    else if (press.key === 'escape' && charge) call.clear();
    else if (press.key === 'escape') act({ type: 'back' });
    else if (charge) inCode(press);
    else if (press.key === 'ctrl+n' && !call.isBusy) key.renew();
    else if (!call.isBusy) form.press(press);
  });
  const lost = live.isLost ? 'The service does not answer; it is asked again and again.' : null;
  return {
    ...{ form, answer, charge, live, isInverted, isText },
    isReplay: answer?.headers.get('idempotency-replayed') === 'true',
    notice: ofCall(call, 'Charging') ?? ofFaults(form.faults, form.fields) ?? bad(lost),
  };
}
