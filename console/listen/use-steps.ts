import type { OnboardingApplication } from '../../contract/types.ts';
import { useDesk } from '../desk-context.ts';
import { bad, good, type Notice } from '../model/notice.ts';
import { nextRow, stepRows, type StepRow } from '../model/onboarding-steps.ts';
import { useKeys } from './use-keys.ts';
import { useList } from './use-list.ts';
import type { Wizard } from './use-wizard.ts';

export interface StepsView {
  readonly rows: readonly StepRow[];
  readonly chosen: number;
  readonly notice: Notice | null;
}

/** All steps of an application, to open one of. */
export function useSteps(wizard: Wizard, application: OnboardingApplication): StepsView {
  const { act } = useDesk();
  const rows = stepRows(application);
  const list = useList(rows.length, nextRow(rows));
  useKeys((press) => {
    if (press.key === 'escape') return wizard.isBusy ? wizard.cancel() : act({ type: 'back' });
    if (list.press(press)) return undefined;
    const form = rows[list.chosen]?.form;
    if (press.key === 'enter' && form) return wizard.open(form);
    if (press.text === 'r') return wizard.ask();
    return press.text === 'f' ? act({ type: 'application', id: null }) : undefined;
  });
  const { label, note } = rows[list.chosen] ?? { label: '', note: '' };
  const notice = wizard.notice ?? good(wizard.said) ?? bad(note && `${label}: ${note}.`);
  return { rows, chosen: list.chosen, notice };
}

/** Before the application has come there is nothing to open. */
export function useWaiting(wizard: Wizard): void {
  const { act } = useDesk();
  useKeys((press) => {
    if (press.key === 'escape') return wizard.isBusy ? wizard.cancel() : act({ type: 'back' });
    if (press.text === 'r') return wizard.ask();
    return press.text === 'f' ? act({ type: 'application', id: null }) : undefined;
  });
}
