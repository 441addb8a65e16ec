/** The limits of what may be sent by day and by night, and the form that sets the own ones. */
import { useState } from 'react';
import type { PixLimit, PixLimits } from '../../contract/types.ts';
import { readFaults } from '../api.ts';
import { Lines } from '../components/coloured.tsx';
import { FormScreen } from '../components/form.tsx';
import { Frame } from '../components/frame.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useRead } from '../hooks/use-call.ts';
import { useForm } from '../hooks/use-form.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { back, forgetForms } from '../state/app-state.ts';
import { formatAmount, localTime } from '../state/format.ts';
import { failure, reading, success } from '../state/notice.ts';
import { factLines, type Line } from '../state/text.ts';

export function Limits() {
  const [isChanging, setChanging] = useState(false);
  const [said, setSaid] = useState('');
  const close = (text: string): void => {
    setSaid(text);
    setChanging(false);
  };
  if (isChanging) return <ChangeLimits close={close} />;
  return <ShownLimits said={said} change={() => setChanging(true)} />;
}

function ShownLimits({ said, change: startChange }: { said: string; change(): void }) {
  const { api, change } = useApp();
  const call = useRead((signal) => api.call('getPixLimits', {}, signal));
  useKeys(({ key, text }) => {
    if (key === 'escape') change(back);
    else if (text === 'r' && !call.isBusy) call.read();
    else if (text === 'c' && !call.isBusy) startChange();
  });
  const response = call.result;
  const limits = response?.status === 200 ? response.body : null;
  const { '': fault } = response ? readFaults(response) : {};
  const notice = reading(call) ?? failure(fault) ?? success(said);
  return (
    <Frame title="limits" hints={['c change', 'r refresh']} notice={notice}>
      {(room) => limits && <Lines lines={limitLines(limits, room.columns)} />}
    </Frame>
  );
}

function limitLines(limits: PixLimits, columns: number): readonly Line[] {
  const { day, night, night_from: hour, pending_night_from: later, period } = limits;
  const { companies, own_document: own } = limits;
  const titled = (text: string, isNow: boolean): Line => ({
    text: isNow ? `${text} (now)` : text,
    colour: 'strong',
  });
  const next = later ? `, at ${later.night_from}:00 from ${localTime(later.applies_at)}` : '';
  return [
    titled('By day, from 6:00', period === 'day'),
    ...partLines(day, columns),
    titled(`By night, from ${hour}:00${next}`, period === 'night'),
    ...partLines(night, columns),
    ...apartLines('To companies, by day', [companies.day, day], columns),
    ...apartLines('To companies, by night', [companies.night, night], columns),
    ...apartLines('To the own document, by day', [own.day, day], columns),
    ...apartLines('To the own document, by night', [own.night, night], columns),
  ];
}

/** The limit of a class of payees, unless it is the one of every payee. */
function apartLines(
  text: string,
  [part, shared]: readonly [PixLimit, PixLimit],
  columns: number,
): readonly Line[] {
  const { limit, left, own, maximum, pending_own: later } = part;
  const isShared = limit === shared.limit && left === shared.left && maximum === shared.maximum;
  if (isShared && own === null && !later) return [];
  return [{ text, colour: 'strong' }, ...partLines(part, columns)];
}

function partLines(part: PixLimit, columns: number): readonly Line[] {
  const { limit, left, own, maximum, pending_own: ownLater, pending_maximum: bankLater } = part;
  const pending = (later: PixLimit['pending_own'], none: string): string =>
    later ? `, ${shown(later.amount, none)} from ${localTime(later.applies_at)}` : '';
  const facts = [
    ['Left', limit === null ? 'no limit' : `${shown(left, '')} of ${shown(limit, '')}`],
    ['Own', shown(own, 'none') + pending(ownLater, 'none')],
    ['Bank', shown(maximum, 'no limit') + pending(bankLater, 'no limit')],
    ['Renewed', localTime(part.renews_at)],
  ] as const;
  return factLines(facts, columns);
}

function shown(amount: number | null, none: string): string {
  return amount === null ? none : formatAmount(amount);
}

const hours = { 20: 'at 20:00', 22: 'at 22:00', '': 'as it does now' } as const;

function ChangeLimits({ close }: { close(said: string): void }) {
  const { change } = useApp();
  const form = useForm({
    name: 'limits',
    operation: 'setPixLimits',
    inputs: {
      day: 'By day',
      night: 'By night',
      'companies.day': 'Companies, by day',
      'companies.night': 'Companies, by night',
      'own_document.day': 'Own document, by day',
      'own_document.night': 'Own document, by night',
      night_from: { label: 'The night begins', choices: hours, initial: '' },
      password: 'Your password',
    },
    onResponse(response) {
      if (response.status !== 200) return;
      change(forgetForms('limits'));
      close('Less applies now, more after 24 hours.');
    },
  });
  const leave = (): void => close('');
  return <FormScreen {...{ title: 'limits › change', form, button: 'Set', close: leave }} />;
}
