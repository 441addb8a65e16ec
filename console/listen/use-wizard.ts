import { useEffect, useState } from 'react';
import type { OnboardingApplication } from '../../contract/types.ts';
import { refusalsOf, type Answer } from '../api.ts';
import { useDesk } from '../desk-context.ts';
import { bad, ofRead, type Notice } from '../model/notice.ts';
import { isUnderWay, type StepForm } from '../model/onboarding-steps.ts';
import { useCall } from './use-call.ts';

/** Queued steps end by themselves, soon. */
const lookAgainMs = 1_000;

export interface Wizard {
  /** Null until it has come. */
  readonly application: OnboardingApplication | null;
  /** The step that is open; null while all are shown. */
  readonly step: StepForm | null;
  /** What the service said of the last step. */
  readonly said: string;
  readonly notice: Notice | null;
  open(step: StepForm): void;
  /** Shows all steps again. */
  close(said?: string): void;
  /** Takes over how the application stands by now. */
  take(application: OnboardingApplication): void;
  ask(): void;
}

/** An application as it stands, kept fresh while something of it is under way. */
export function useWizard(id: string): Wizard {
  const { api } = useDesk();
  const call = useCall<Answer<'getOnboarding'>>();
  const [application, take] = useState<OnboardingApplication | null>(null);
  const [step, setStep] = useState<StepForm | null>(null);
  const [said, setSaid] = useState('');
  const look = async (signal: AbortSignal): Promise<Answer<'getOnboarding'>> => {
    const answer = await api.call('getOnboarding', { path: { applicationId: id } }, signal);
    if (answer.status === 200) take(answer.body);
    return answer;
  };
  useEffect(() => call.run(look), [id]);
  useEffect(() => {
    if (!application || !isUnderWay(application)) return undefined;
    const controller = new AbortController();
    const timer = setTimeout(() => void look(controller.signal).catch(() => null), lookAgainMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [application]);
  return {
    ...{ application, step, said, take },
    notice: ofRead(call) ?? bad(call.result && refusalsOf(call.result)['']),
    open(opened) {
      setSaid('');
      setStep(opened);
    },
    close(words = '') {
      setSaid(words);
      setStep(null);
    },
    ask: () => call.run(look),
  };
}
