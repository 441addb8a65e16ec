/** A form that is typed in: its draft, its faults, and what a key does to it. */
import type { OperationId } from '../../contract/types.ts';
import { useDesk } from '../desk-context.ts';
import {
  formKey,
  newForm,
  type Faults,
  type Field,
  type FormAction,
  type FormState,
} from '../model/form.ts';
import { faultsOf, requiredOf, valuesOf } from '../model/form-values.ts';
import type { Press } from '../model/keyboard.ts';

type Values = Readonly<Record<string, unknown>>;

export interface FormOptions {
  /** What the draft is kept under. */
  readonly name: string;
  readonly fields: readonly Field[];
  /** The operation that takes what is typed; its part of the contract is what it is checked by. */
  readonly operation: OperationId;
  /** What the operation is given besides what is typed. */
  readonly given?: Values;
  /** Called when nothing is at fault. */
  onSubmit(values: Values): void;
}

export interface FormHandle {
  readonly fields: readonly Field[];
  readonly state: FormState;
  readonly faults: Faults;
  readonly required: ReadonlySet<string>;
  /** @returns whether the key was one of the form's. */
  press(press: Press): boolean;
  fillIn(values: Readonly<Record<string, string>>): void;
  /** Shows what the service refused, at the fields. */
  refuse(faults: Faults): void;
}

/** What was typed is kept by the desk, under the form's name, so that going back loses nothing. */
export function useForm(options: FormOptions): FormHandle {
  const { name, fields, operation, given, onSubmit } = options;
  const { state: desk, act } = useDesk();
  const state = desk.drafts[name] ?? newForm(fields);
  const check = (values: Values): Faults => desk.checks(operation)({ ...given, ...values });
  const change = (action: FormAction): void => act({ type: 'form', form: name, fields, action });
  const submit = (): void => {
    const faults = faultsOf({ fields, check, state: { ...state, isAsked: true, refusals: {} } });
    if (Object.keys(faults).length > 0) return change({ type: 'ask', faults });
    change({ type: 'refuse', faults: {} });
    return onSubmit(valuesOf(fields, state));
  };
  return {
    fields,
    state,
    faults: faultsOf({ fields, check, state }),
    required: requiredOf(check),
    press(press) {
      const action = formKey(state, fields, press);
      if (action === 'submit') submit();
      else if (action) change(action);
      return action !== null;
    },
    fillIn: (values) => change({ type: 'fill', values }),
    refuse: (faults) => change({ type: 'refuse', faults }),
  };
}
