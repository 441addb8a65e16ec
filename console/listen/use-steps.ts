import { useState } from 'react';
import type { OnboardingApplication } from '../../contract/types.ts';
import { useDesk } from '../desk-context.ts';
import type { Press } from '../model/keyboard.ts';
import { ask, bad, good, type Notice } from '../model/notice.ts';
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
  const forgetting = useForgetting();
  const rows = stepRows(application);
  const list = useList(rows.length, nextRow(rows));
  useKeys((press) => {
    if (forgetting.press(press)) return undefined;
    if (press.key === 'escape') return act({ type: 'back' });
    if (list.press(press)) return undefined;
    const form = rows[list.chosen]?.form;
    if (press.key === 'enter' && form) return wizard.open(form);
    return press.text === 'r' ? wizard.ask() : undefined;
  });
  const { label, note } = rows[list.chosen] ?? { label: '', note: '' };
  const notice =
    forgetting.question ?? wizard.notice ?? good(wizard.said) ?? bad(note && `${label}: ${note}.`);
  return { rows, chosen: list.chosen, notice };
}

/** Before the application has come there is nothing to open. */
export function useWaiting(wizard: Wizard): Notice | null {
  const { act } = useDesk();
  const forgetting = useForgetting();
  useKeys((press) => {
    if (forgetting.press(press)) return undefined;
    if (press.key === 'escape') return act({ type: 'back' });
    return press.text === 'r' ? wizard.ask() : undefined;
  });
  return forgetting.question ?? wizard.notice;
}

interface Forgetting {
  readonly question: Notice | null;
  /** @returns whether the key asked, or was the answer. */
  press(press: Press): boolean;
}

/** Nobody finds an application again without its id, and so one is asked before it goes. */
function useForgetting(): Forgetting {
  const { act } = useDesk();
  const [isAsked, setAsked] = useState(false);
  return {
    question: ask(isAsked ? 'Forget it? Only its id leads back to it.' : null),
    press(press) {
      if (isAsked && press.text === 'y') act({ type: 'application', id: null });
      setAsked(!isAsked && press.text === 'f');
      return isAsked || press.text === 'f';
    },
  };
}
