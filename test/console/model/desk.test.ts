/** What all screens share, and how it changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  beginning,
  reduceDesk,
  type DeskAction,
  type DeskState,
} from '../../../console/model/desk.ts';
import type { Field } from '../../../console/model/form.ts';

const fields: readonly Field[] = [{ name: 'pix_key', label: 'PIX key', kind: 'text' }];

function holder(id: number) {
  const user = { id, name: 'Ana', email: 'ana@example.com', document: null, person_type: 'PF' };
  return { user, account: null };
}

function after(...actions: readonly DeskAction[]): DeskState {
  return actions.reduce(reduceDesk, beginning);
}

const typed = (form: string): DeskAction => ({
  ...{ type: 'form', form, fields },
  action: { type: 'insert', text: 'bruno' },
});

const entered: DeskAction = { type: 'entered', holder: holder(1) };
const ended: DeskAction = { type: 'ended', remark: 'It has ended.' };
const draftsOf = ({ drafts }: DeskState): string[] => Object.keys(drafts);

describe('the way through the screens', () => {
  it('leads on, and back to where one came from, and not further', () => {
    const open: DeskAction = { type: 'open', screen: 'send' };
    assert.deepEqual(after(open).path, ['home', 'send']);
    assert.deepEqual(after(open, { type: 'back' }, { type: 'back' }).path, ['home']);
  });

  it('loses nothing that was typed', () => {
    const there: DeskAction[] = [{ type: 'open', screen: 'send' }, typed('send')];
    const { drafts } = after(...there, { type: 'back' }, { type: 'open', screen: 'send' });
    assert.equal(drafts['send']?.values['pix_key'], 'bruno');
  });

  it('leads to the login when the session ends, and from there back into the middle', () => {
    const during = [entered, { type: 'open', screen: 'send' }, typed('send'), ended] as const;
    const atLogin = after(...during);
    assert.deepEqual(atLogin.path, ['home', 'login']);
    assert.equal(atLogin.remark, 'It has ended.');
    const back = reduceDesk(atLogin, entered);
    assert.deepEqual(back.path, ['home', 'send']);
    assert.equal(back.remark, null);
    assert.deepEqual(draftsOf(back), ['send']);
  });
});

describe('what was refused', () => {
  it('to one session is not held against the next', () => {
    const refused: DeskAction = {
      ...{ type: 'form', form: 'send', fields },
      action: { type: 'refuse', faults: { '': 'Your session has ended.' } },
    };
    const { drafts } = after(entered, typed('send'), ended, refused, entered);
    assert.deepEqual(drafts['send']?.refusals, {});
    assert.equal(drafts['send'].values['pix_key'], 'bruno');
  });
});

describe('what was typed', () => {
  it('is for nobody else', () => {
    const other: DeskAction = { type: 'entered', holder: holder(2) };
    const state = after(entered, { type: 'open', screen: 'send' }, typed('send'), ended, other);
    assert.deepEqual([state.path, draftsOf(state)], [['home'], []]);
  });

  it('is forgotten at logout', () => {
    const state = after(entered, typed('send'), { type: 'left', remark: 'Bye.' });
    assert.deepEqual([draftsOf(state), state.holder, state.path], [[], null, ['home']]);
  });

  it('is kept by the login, but not the password', () => {
    assert.deepEqual(draftsOf(after(typed('login'), typed('onboarding Address'), entered)), [
      'onboarding Address',
    ]);
  });

  it('for one application is not there for the next', () => {
    const next: DeskAction = { type: 'application', id: 'a' };
    const state = after(typed('send'), typed('onboarding registration'), next);
    assert.deepEqual([draftsOf(state), state.applicationId], [['send'], 'a']);
  });

  it('into one form can be forgotten', () => {
    assert.deepEqual(draftsOf(after(typed('keys'), { type: 'forget', form: 'keys' })), []);
  });
});

describe('the contract', () => {
  it('that is missing is asked for again, at the latest after a login', () => {
    const missing = after({ type: 'contract', checks: null });
    assert.equal(missing.contract, 'missing');
    assert.equal(reduceDesk(missing, { type: 'ask contract' }).contract, 'asked');
    assert.equal(reduceDesk(missing, entered).contract, 'asked');
  });

  it('that has come is what is checked by', () => {
    const checks = () => () => ({ amount: 'At least 0.01.' });
    const state = after({ type: 'contract', checks });
    assert.equal(state.contract, 'known');
    assert.equal(state.checks, checks);
  });
});
