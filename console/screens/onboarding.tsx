/** The opening of an account: its beginning, all its steps, and one step. */
import { ProgressBar } from '@inkjs/ui';
import { Box } from 'ink';
import type { OnboardingApplication } from '../../contract/types.ts';
import { FormView } from '../components/form-view.tsx';
import { Frame, type Room } from '../components/frame.tsx';
import { LinesView } from '../components/lines-view.tsx';
import { Toned } from '../components/toned.tsx';
import { useDesk } from '../desk-context.ts';
import { factLines, linesOf, moreText, windowOf, type Line } from '../model/lines.ts';
import { useOnboardingStart } from '../listen/use-onboarding-start.ts';
import { useStep } from '../listen/use-step.ts';
import { useSteps, useWaiting } from '../listen/use-steps.ts';
import { useWizard, type Wizard } from '../listen/use-wizard.ts';
import { progressOf, type StepForm, type StepRow } from '../model/onboarding-steps.ts';
import { toneOf } from '../model/tones.ts';

export function Onboarding() {
  const { applicationId } = useDesk().state;
  return applicationId === null ? <Start /> : <WizardScreen id={applicationId} />;
}

function Start() {
  const { isResuming, form, notice, keys } = useOnboardingStart();
  return (
    <Frame title={isResuming ? 'onboarding › go on' : 'onboarding'} {...{ keys, notice }}>
      {(room) => <FormView {...{ form, room }} button={isResuming ? 'Go on' : 'Begin'} />}
    </Frame>
  );
}

function WizardScreen({ id }: { readonly id: string }) {
  const wizard = useWizard(id);
  const { application, step } = wizard;
  if (!application) return <Waiting wizard={wizard} />;
  if (step) return <Step {...{ wizard, step, id }} />;
  return <Steps {...{ wizard, application }} />;
}

function Waiting({ wizard }: { readonly wizard: Wizard }) {
  const notice = useWaiting(wizard);
  return (
    <Frame title="onboarding" keys={['r again', 'f forget it']} notice={notice}>
      {() => null}
    </Frame>
  );
}

interface StepsProps {
  readonly wizard: Wizard;
  readonly application: OnboardingApplication;
}

function Steps({ wizard, application }: StepsProps) {
  const { rows, chosen, notice } = useSteps(wizard, application);
  const keys = ['↑↓ steps', 'enter open', 'r again', 'f forget it'];
  return (
    <Frame title={`onboarding › ${application.name}`} keys={keys} notice={notice}>
      {(room) => {
        const facts = applicationFacts(application, room);
        const height = room.rows - facts.length - 1;
        const seen = windowOf(rows, { from: chosen, to: chosen }, height);
        return (
          <>
            <Progress application={application} />
            {seen.rows.map((row) => (
              <StepLine key={row.label} row={row} isChosen={row === rows[chosen]} />
            ))}
            {seen.rows.length < rows.length && <Toned tone="faint">{`  ${moreText(seen)}`}</Toned>}
            <Box flexGrow={1} />
            <LinesView lines={facts} />
          </>
        );
      }}
    </Frame>
  );
}

function Progress({ application }: { readonly application: OnboardingApplication }) {
  const percent = Math.round(100 * progressOf(application));
  return (
    <Box gap={1} flexShrink={0}>
      <Toned tone={toneOf(application.status)} bold>
        {application.status}
      </Toned>
      <ProgressBar value={percent} />
      <Toned>{`${percent} %`}</Toned>
    </Box>
  );
}

function StepLine({ row, isChosen }: { readonly row: StepRow; readonly isChosen: boolean }) {
  const { label, status, note } = row;
  return (
    <Box flexShrink={0} gap={1}>
      <Toned bold={isChosen}>{`${isChosen ? '›' : ' '} ${label.padEnd(26)}`}</Toned>
      {status && (
        <Box flexShrink={0}>
          <Toned tone={toneOf(status)} bold={isChosen}>
            {status.replace('_', ' ')}
          </Toned>
        </Box>
      )}
      <Toned tone="bad">{note}</Toned>
    </Box>
  );
}

/** What there is to know; the proof of life's page while it is to be opened. */
function applicationFacts(application: OnboardingApplication, { columns }: Room): Line[] {
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

interface StepProps {
  readonly wizard: Wizard;
  readonly step: StepForm;
  readonly id: string;
}

function Step({ wizard, step, id }: StepProps) {
  const { form, share, notice, keys } = useStep(wizard, step, id);
  return (
    <Frame title={`onboarding › ${step.label}`} {...{ keys, notice }}>
      {(room) => {
        const words = linesOf(step.words ?? '', room.columns);
        const rows = room.rows - (step.words ? words.length : 0) - 1;
        return (
          <>
            {step.words && <LinesView lines={words} />}
            <FormView {...{ form, room: { ...room, rows } }} button={step.button} />
            <Box flexGrow={1} />
            {share !== null && <UploadBar share={share} />}
          </>
        );
      }}
    </Frame>
  );
}

function UploadBar({ share }: { readonly share: number }) {
  const percent = Math.round(100 * share);
  return (
    <Box gap={1} flexShrink={0}>
      <ProgressBar value={percent} />
      <Toned>{`${percent} %`}</Toned>
    </Box>
  );
}
