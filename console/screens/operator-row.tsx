/** One row of an operator's list, in the words of the command, and what can be done about it. */
import { useState } from 'react';
import { FormScreen } from '../components/form.tsx';
import { Frame } from '../components/frame.tsx';
import { ScrollView } from '../components/lists.tsx';
import { useRead } from '../hooks/use-call.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import { useLocalForm } from '../hooks/use-local-form.ts';
import { useQuestion } from '../hooks/use-question.ts';
import type { Operate } from '../operate.ts';
import { utcTime } from '../state/format.ts';
import { reading, writing } from '../state/notice.ts';
import type { OperatorAction, Typed } from '../state/operator-actions.ts';
import { paymentList, readPayment, type OperatorList } from '../state/operator.ts';
import { cellText, memberFacts, type FormatCell, type Row } from '../state/table.ts';
import { factLines, wrapLines, type Line } from '../state/text.ts';

export interface OperatorRowProps {
  readonly operate: Operate;
  readonly shown: OperatorList;
  readonly row: Row;
  /** What the operator has typed for an earlier action. */
  readonly typed: Typed;
  keep(typed: Typed): void;
  close(): void;
}

/** The row, or in its place the form of an action. */
export function OperatorRow(props: OperatorRowProps) {
  const { shown, row, typed, keep, close } = props;
  const commands = useCommands(props);
  const question = useQuestion();
  const [form, openForm] = useState<OperatorAction | null>(null);
  const [payment, openPayment] = useState<string | null>(null);
  const act = ({ preview, change }: OperatorAction, values: Typed): void => {
    const ask = (): void => {
      if (!change) return;
      question.ask(change.question, () => commands.execute(change.command(row, values)));
    };
    // The operator sees the effects before anything is changed.
    if (preview) commands.execute(preview(row, values), ask);
    else ask();
  };
  if (payment !== null) {
    const leave = (): void => openPayment(null);
    return <OperatorRow {...props} shown={paymentList} row={{ id: payment }} close={leave} />;
  }
  if (form) {
    const submit = (values: Typed): void => {
      openForm(null);
      keep(values);
      act(form, values);
    };
    return <ActionForm {...{ action: form, typed, submit }} close={() => openForm(null)} />;
  }
  const begin = (action: OperatorAction): void =>
    action.fields.length > 0 ? openForm(action) : act(action, {});
  const follow = (): void => commands.findPayment(openPayment);
  return <Details {...{ shown, commands, question, begin, follow, close }} />;
}

interface DetailsProps extends Pick<OperatorRowProps, 'shown' | 'close'> {
  readonly commands: ReturnType<typeof useCommands>;
  readonly question: ReturnType<typeof useQuestion>;
  begin(action: OperatorAction): void;
  /** Opens the payment that an event is about. */
  follow(): void;
}

function Details({ shown, commands, question, begin, follow, close }: DetailsProps) {
  const { call, isWriting, lines } = commands;
  const list = useList();
  useKeys((press) => {
    if (question.press(press)) return undefined;
    if (press.key === 'escape') return isWriting ? call.cancel() : close();
    if (call.isBusy || list.press(press)) return undefined;
    if (shown.isOfEvents && press.text === 'p') return follow();
    const action = shown.actions.find(({ key }) => key === press.text);
    if (!action) return undefined;
    list.choose(0);
    return begin(action);
  });
  const hints = [
    ...(shown.isOfEvents ? ['p its payment'] : []),
    ...shown.actions.map(({ key, name }) => `${key} ${name}`),
  ];
  return (
    <Frame
      {...{ title: `operator › ${shown.name}`, hints: ['↑↓ scroll', ...hints] }}
      notice={question.notice ?? (isWriting ? writing : reading)(call, waiting)}
    >
      {(room) => <ScrollView {...{ lines, list, room }} />}
    </Frame>
  );
}

/** Also of the lists. */
export const waiting = 'Waiting for ponte';

interface ActionFormProps extends Pick<OperatorRowProps, 'typed' | 'close'> {
  readonly action: OperatorAction;
  submit(values: Typed): void;
}

function ActionForm({ action, typed, submit, close }: ActionFormProps) {
  const { fields, name } = action;
  const own = fields.filter((field) => field.name !== 'confirm');
  const initial = Object.fromEntries(own.map((field) => [field.name, typed[field.name] ?? '']));
  const form = useLocalForm({ fields, initial, onSubmit: submit });
  return <FormScreen {...{ title: `operator › ${name}`, form, button: 'Go on', close }} />;
}

const detailCell: FormatCell = (row, name) => utcTime(cellText(row, name));

/** The commands for one row, and their output. */
function useCommands({ operate, shown, row }: OperatorRowProps) {
  const { details } = shown;
  const [description, setDescription] = useState('');
  const [result, setResult] = useState('');
  const [isChange, setChange] = useState(false);
  const describe = async (signal: AbortSignal): Promise<void> => {
    if (details) setDescription(await operate([...details, cellText(row, 'id')], signal));
  };
  const call = useRead(describe);
  const execute = (args: readonly string[], then?: () => void): void => {
    setChange(args.includes('--yes'));
    call.run(async (signal) => {
      setResult('');
      setResult(await operate(args, signal));
      then?.();
      await describe(signal);
    });
  };
  const findPayment = (open: (id: string) => void): void =>
    call.run(async (signal) => {
      const output = await operate([...(details ?? []), cellText(row, 'id'), '--json'], signal);
      const id = readPayment(output);
      if (id !== null) open(id);
      setResult(id === null ? 'The event names no payment that is stored here.' : '');
    });
  const lines = (columns: number): Line[] => [
    ...wrapLines(result, columns, 'strong'),
    ...(description === ''
      ? factLines(memberFacts(row, detailCell), columns)
      : wrapLines(description, columns)),
  ];
  return { call, isWriting: isChange && call.isBusy, execute, findPayment, lines };
}
