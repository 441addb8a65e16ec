/** The opening of an account: a new or an existing application, its steps and their fields. */
import { ProgressBar } from '@inkjs/ui';
import { Box } from 'ink';
import { useEffect, useState } from 'react';
import type { OnboardingApplication } from '../../contract/types.ts';
import { readFaults, type OperationResponse } from '../api.ts';
import { Coloured, Lines } from '../components/coloured.tsx';
import { FormScreen, type FormScreenProps } from '../components/form.tsx';
import { Frame } from '../components/frame.tsx';
import { TableView } from '../components/lists.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useRead } from '../hooks/use-call.ts';
import { useForm } from '../hooks/use-form.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import { useQuestion } from '../hooks/use-question.ts';
import { back, openApplication } from '../state/app-state.ts';
import { failure, reading, success, type Notice } from '../state/notice.ts';
import { isUnderWay, nextRow, percentDone, stepRows, type StepForm } from '../state/onboarding.ts';
import { memberColumns } from '../state/table.ts';
import { factLines, statusColour, type Line } from '../state/text.ts';
import { Step } from './onboarding-step.tsx';

export function Onboarding() {
  const { applicationId } = useApp().state;
  const [isResuming, setResuming] = useState(false);
  if (applicationId !== null) return <Application id={applicationId} />;
  const turn = (): void => setResuming(!isResuming);
  return isResuming ? <Resume turn={turn} /> : <Register turn={turn} />;
}

const registration = { email: 'E-mail', password_confirmation: 'Password again', document: 'CPF' };

/** @param props.turn turns between a new application and an old one. */
function Register({ turn }: { turn(): void }) {
  const { change } = useApp();
  const form = useForm({
    name: 'onboarding registration',
    operation: 'startOnboarding',
    inputs: registration,
    onResponse(response) {
      if (response.status === 201) change(openApplication(response.body.id));
    },
  });
  const keys = onTurn('ctrl+r resume an application', turn);
  return <FormScreen {...{ title: 'onboarding', form, button: 'Begin', ...keys }} />;
}

function Resume({ turn }: { turn(): void }) {
  const { change } = useApp();
  const form = useForm({
    name: 'onboarding resumption',
    operation: 'getOnboarding',
    inputs: { applicationId: { label: 'Application id', hint: 'as the console showed it' } },
    onResponse(response) {
      if (response.status === 200) change(openApplication(response.body.id));
      if (response.status === 404) form.refuse({ applicationId: 'There is no such application.' });
    },
  });
  const keys = onTurn('ctrl+r register', turn);
  return <FormScreen {...{ title: 'onboarding › resume', form, button: 'Resume', ...keys }} />;
}

function onTurn(hint: string, turn: () => void): Pick<FormScreenProps, 'hints' | 'onKey'> {
  return { hints: [hint], onKey: ({ key }) => (key === 'ctrl+r' ? turn() : undefined) };
}

/** The steps of one application, or the one that is open. */
function Application({ id }: { readonly id: string }) {
  const { application, setApplication, read, notice } = useApplication(id);
  const [step, setStep] = useState<StepForm | null>(null);
  const [said, setSaid] = useState('');
  const turnTo = (next: StepForm | null, text = ''): void => {
    setSaid(text);
    setStep(next);
  };
  if (step) {
    const close = (text?: string): void => turnTo(null, text);
    return <Step {...{ step, id, close, onChange: setApplication }} />;
  }
  const steps = { application, read, notice: notice ?? success(said), open: turnTo };
  // The list starts at the next step, once there are steps.
  return <Steps key={application ? 'steps' : 'none'} {...steps} />;
}

/** A queued step ends soon; then the application is read again. */
const refreshMs = 1_000;

function useApplication(id: string) {
  const { api } = useApp();
  const [application, setApplication] = useState<OnboardingApplication | null>(null);
  const load = async (signal: AbortSignal): Promise<OperationResponse<'getOnboarding'>> => {
    const response = await api.call('getOnboarding', { path: { applicationId: id } }, signal);
    if (response.status === 200) setApplication(response.body);
    return response;
  };
  const call = useRead(load);
  useEffect(() => {
    if (!application || !isUnderWay(application)) return undefined;
    const { signal } = new AbortController();
    const timer = setTimeout(() => void load(signal).catch(() => null), refreshMs);
    return () => clearTimeout(timer);
  }, [application]);
  const notice = reading(call) ?? failure(call.result && readFaults(call.result)['']);
  return { application, setApplication, read: call.read, notice };
}

interface StepsProps {
  readonly application: OnboardingApplication | null;
  readonly notice: Notice | null;
  read(): void;
  open(step: StepForm): void;
}

function Steps({ application, notice, read, open }: StepsProps) {
  const { change } = useApp();
  const question = useQuestion();
  const rows = application ? stepRows(application) : [];
  const list = useList(rows.length, nextRow(rows));
  const chosen = rows[list.chosen];
  useKeys((press) => {
    if (question.press(press)) return undefined;
    if (press.key === 'escape') return change(back);
    if (list.press(press)) return undefined;
    if (press.key === 'enter' && chosen?.form) return open(chosen.form);
    if (press.text === 'f') {
      const text = 'Forget it? Only its id leads back to it.';
      return question.ask(text, () => change(openApplication(null)));
    }
    return press.text === 'r' ? read() : undefined;
  });
  return (
    <Frame
      title={application ? `onboarding › ${application.name}` : 'onboarding'}
      hints={['↑↓ steps', 'enter open', 'r refresh', 'f forget it']}
      notice={
        question.notice ?? notice ?? failure(chosen?.note && `${chosen.step}: ${chosen.note}.`)
      }
    >
      {({ columns, rows: height }) => {
        if (!application) return null;
        const facts = applicationFacts(application, columns);
        const room = { columns, rows: height - facts.length - 1 };
        return (
          <>
            <Box gap={1} flexShrink={0}>
              <Coloured colour={statusColour(application.status)}>{application.status}</Coloured>
              <ProgressBar value={percentDone(application)} />
              <Coloured>{`${percentDone(application)} %`}</Coloured>
            </Box>
            <TableView {...{ columns: stepColumns, rows, list, room, none: '' }} />
            <Box flexGrow={1} />
            <Lines lines={facts} />
          </>
        );
      }}
    </Frame>
  );
}

const stepColumns = memberColumns(['step', 'status', 'note'], (row, name) =>
  String(row[name]).replace('_', ' '),
);

/** The decision, the account, the id, and the page of a proof of life that is not done. */
function applicationFacts(application: OnboardingApplication, columns: number): Line[] {
  const { provider, prova_vida: liveness, steps } = application;
  const account = `${provider.agency ?? '–'} / ${provider.account_number ?? '–'}`;
  const isOpen = steps.some(({ name, status }) => name === 'prova_vida' && status !== 'done');
  const page = isOpen && liveness.url_iframe ? [['Open', liveness.url_iframe] as const] : [];
  return factLines(
    [
      ...page,
      ['KYC', application.kyc_status],
      ['Account', application.conta_bancaria_criada ? account : 'not opened yet'],
      ['Id (secret)', application.id],
    ],
    columns,
  );
}
