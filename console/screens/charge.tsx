/** Charging: the form, and then the charge. */
import { useWindowSize } from 'ink';
import { FormWithLines } from '../components/form-with-lines.tsx';
import { Frame, type Room } from '../components/frame.tsx';
import { useDesk } from '../desk-context.ts';
import { formKeys } from '../model/foot.ts';
import { linesOf, type Line } from '../model/lines.ts';
import { useCharge, type ChargeView } from '../listen/use-charge.ts';
import { amountOf, money } from '../model/money.ts';
import { chargeOutcome } from '../model/outcomes.ts';
import { copyText, lonelyCode } from '../model/charge-code.ts';
import { Code, LonelyCode } from './charge-code.tsx';

export function Charge() {
  const view = useCharge();
  const { form, charge, notice } = view;
  const { hasColours } = useDesk();
  const amount = amountOf(form.state.values['amount'] ?? '');
  const button = amount === null ? 'Charge' : `Charge ${money(amount)}`;
  const codeKeys = [...(hasColours ? [] : ['i light or dark terminal']), 't code or text'];
  const keys = charge ? codeKeys : [...formKeys('charge'), 'ctrl+n new key'];
  const isDark = hasColours || view.isInverted;
  const window = useWindowSize();
  const lonely = charge && !view.isText && lonelyCode(copyText(charge), window, isDark);
  if (lonely) return <LonelyCode {...{ view, keys, code: lonely }} />;
  return (
    <Frame title="charge" keys={keys} notice={notice}>
      {(room) => {
        if (charge) return <Code {...{ view, room, isDark }} />;
        return <FormWithLines {...{ form, button, room }} lines={outcomeLines(view, room)} />;
      }}
    </Frame>
  );
}

/** What became of a charge that has no code to show. */
function outcomeLines({ answer }: ChargeView, { columns }: Room): Line[] {
  if (!answer) return [];
  const { tone, text } = chargeOutcome(answer);
  return [{ text: '' }, ...linesOf(text, columns, tone)];
}
