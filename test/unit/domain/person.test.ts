import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  readAddress,
  readPerson,
  type AddressForm,
  type PersonForm,
} from '../../../src/domain/person.ts';
import type { FieldErrors } from '../../../src/errors.ts';

const person: PersonForm = {
  name: 'Ana Souza',
  email: 'ana@example.com',
  password: 'correct horse battery',
  password_confirmation: 'correct horse battery',
  document: '111.444.777-35',
  phone: '(11) 98765-4321',
};

const address: AddressForm = {
  cep: '01310-100',
  logradouro: 'Avenida Paulista',
  numero: '1578',
  complemento: 'Sala 3',
  bairro: 'Bela Vista',
  cidade: 'São Paulo',
  estado: 'sp',
};

/** The English sentences of the errors, by field. */
function messages(errors: FieldErrors | null): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(errors ?? {}).map(([field, texts]) => [field, texts.map(({ en }) => en)]),
  );
}

describe('readPerson', () => {
  it('gives the form that is stored', () => {
    assert.deepEqual(readPerson(person), {
      errors: null,
      value: {
        name: 'Ana Souza',
        email: 'ana@example.com',
        password: 'correct horse battery',
        document: '11144477735',
        phone: '+5511987654321',
      },
    });
  });

  const names: [typed: string, stored: string][] = [
    ['  Ana \t Maria\nSouza ', 'Ana Maria Souza'],
    ['Jose\u0301', 'José'],
    ['Jose\u034f\u0301', 'José'],
    ['\u202aAna\u00a0Souza\u202c', 'Ana Souza'],
    ['An\u00ada\u200b', 'Ana'],
    ["Ana d'Ávila-Souza 2ª", "Ana d'Ávila-Souza 2ª"],
    ['á'.repeat(140), 'á'.repeat(140)],
    ['𝐀'.repeat(140), '𝐀'.repeat(140)],
  ];
  for (const [typed, stored] of names) {
    it(`stores the name ${JSON.stringify(typed.slice(0, 30))} as one tidy line`, () => {
      assert.equal(readPerson({ ...person, name: typed }).value?.name, stored);
    });
  }

  it('stores an e-mail as typed, without spaces around it and without invisible characters', () => {
    for (const email of [
      ' Ana@Example.com ',
      '\u200eAna@Example\u200b.com\u2028',
      'Ana@Example.com\t',
    ]) {
      assert.equal(readPerson({ ...person, email }).value?.email, 'Ana@Example.com');
    }
  });

  it('compares the repeated password in the form in which a login compares it', () => {
    const password = 'Ação é difícil ﬁm';
    for (const form of ['NFC', 'NFD', 'NFKC'] as const) {
      const confirmed = { ...person, password, password_confirmation: password.normalize(form) };
      assert.equal(readPerson(confirmed).errors, null);
    }
  });

  for (const password of [
    person.email,
    person.email.toUpperCase(),
    'aaaaaaaa',
    '🔒'.repeat(9),
    '½'.repeat(8),
    'ﷺ'.repeat(7),
    '🇧🇷'.repeat(8),
    '👨‍👩‍👧'.repeat(8),
    'x\u0301'.repeat(8),
    ' '.repeat(8),
    ' \t\u00a0\u2003\u3000 \n ',
    '\u200b'.repeat(8),
    ' \u200d  \u2060  \u3164 ',
    'Senha123',
    '１２３４５６７８',
    'flamengo1',
  ]) {
    it(`refuses the weak password ${JSON.stringify(password)}`, () => {
      const { errors } = readPerson({ ...person, password, password_confirmation: password });
      assert.deepEqual(Object.keys(errors ?? {}), ['password']);
      assert.match(errors?.['password']?.[0]?.en ?? '', /too easy to guess/);
    });
  }

  it('accepts a password that is the form of another e-mail', () => {
    const password = 'Senha@banco.com';
    const again = { password, password_confirmation: password };
    assert.equal(readPerson({ ...person, ...again }).errors, null);
  });

  it('counts the characters of a password in code points', () => {
    for (const password of ['🔒🗝'.repeat(4), '🔒🗝'.repeat(64)]) {
      assert.equal(
        readPerson({ ...person, password, password_confirmation: password }).errors,
        null,
      );
    }
  });

  const refused: [field: keyof PersonForm, values: string[], message: string][] = [
    ['name', ['', '\u200b', ' \t'], 'The text must not be empty.'],
    ['name', ['123', '- -', '🙂'], 'The name must contain a letter.'],
    [
      'name',
      ['Ana\u0007', 'Ana\u001b[31m', '\ue000 Ana', 'Ana \ud800'],
      'The text contains a character that is not allowed.',
    ],
    ['name', ['á'.repeat(141)], 'The text must have at most 140 characters.'],
    ['email', ['', 'ana', 'ana@', 'ana@@example.com'], 'The value must be an e-mail address.'],
    ['email', [`a@${'example.'.repeat(32)}com`], 'The text must have at most 254 characters.'],
    [
      'document',
      ['11144477736', '11111111111', '1114447773', 'x'],
      'The CPF is not valid. Check its eleven digits.',
    ],
    [
      'document',
      ['00.000.000/0001-91', '12ABC34501DE35'],
      'This is the CNPJ of a company. Enter a CPF.',
    ],
    [
      'phone',
      ['98765-4321', '+55 11 0000-0000', 'x'],
      'The phone must have an area code, as in +55 11 98765-4321.',
    ],
    ['password_confirmation', ['Correct horse battery', ''], 'The passwords do not match.'],
  ];
  for (const [field, values, message] of refused) {
    for (const value of values) {
      it(`refuses the ${field} ${JSON.stringify(value.slice(0, 30))}`, () => {
        const reading = readPerson({ ...person, [field]: value });
        assert.equal(reading.value, null);
        assert.deepEqual(messages(reading.errors), { [field]: [message] });
      });
    }
  }

  for (const [length, message] of [
    [7, 'The text must have at least 8 characters.'],
    [129, 'The text must have at most 128 characters.'],
  ] as const) {
    it(`refuses a password of ${length} characters`, () => {
      const password = '🔒'.repeat(length);
      const { errors } = readPerson({ ...person, password, password_confirmation: password });
      assert.deepEqual(messages(errors), { password: [message] });
    });
  }

  for (const form of ['NFC', 'NFD'] as const) {
    it(`counts the characters of a password in ${form} as a login compares them`, () => {
      const errorOf = (text: string) => {
        const password = text.normalize(form);
        const { errors } = readPerson({ ...person, password, password_confirmation: password });
        return messages(errors)['password'];
      };
      assert.deepEqual(errorOf('áéíóúãõ'), ['The text must have at least 8 characters.']);
      assert.equal(errorOf('áéíóúãõç'), undefined);
      assert.equal(errorOf('ᾂέ'.repeat(64)), undefined);
      const tooLong = ['The text must have at most 128 characters.'];
      assert.deepEqual(errorOf(`${'ᾂέ'.repeat(64)}a`), tooLong);
    });
  }

  it('names all errors at once, in both languages', () => {
    const { errors } = readPerson({
      name: '1',
      email: 'ana',
      password: 'short',
      password_confirmation: 'other',
      document: '1',
      phone: '1',
    });
    assert.deepEqual(Object.keys(errors ?? {}), Object.keys(person));
    assert.deepEqual(errors?.['document'], [
      {
        en: 'The CPF is not valid. Check its eleven digits.',
        pt: 'O CPF não é válido. Confira os onze dígitos.',
      },
    ]);
  });
});

describe('readAddress', () => {
  it('gives the form that is stored', () => {
    assert.deepEqual(readAddress({ ...address, logradouro: ' Avenida  Paulista' }), {
      errors: null,
      value: { ...address, cep: '01310100', estado: 'SP' },
    });
  });

  it('takes a missing, a null and a blank complement as none', () => {
    const { complemento: _none, ...without } = address;
    for (const form of [without, { ...address, complemento: null }]) {
      assert.equal(readAddress(form).value?.complemento, null);
    }
    assert.equal(readAddress({ ...address, complemento: ' ' }).value?.complemento, null);
  });

  it('refuses a complement with a control character', () => {
    const { errors } = readAddress({ ...address, complemento: 'Sala \u0007' });
    assert.deepEqual(messages(errors), {
      complemento: ['The text contains a character that is not allowed.'],
    });
  });

  it('names all errors at once, by their place in the form', () => {
    const blank = { logradouro: ' ', numero: '\u200b', bairro: '', cidade: '\t' };
    const form = { ...blank, cep: '0131010', complemento: 'x'.repeat(141), estado: 'XX' };
    const empty = ['The text must not be empty.'];
    assert.deepEqual(messages(readAddress(form, 'address.').errors), {
      'address.cep': ['The CEP must have eight digits.'],
      'address.logradouro': empty,
      'address.numero': empty,
      'address.complemento': ['The text must have at most 140 characters.'],
      'address.bairro': empty,
      'address.cidade': empty,
      'address.estado': ['The value must be the two letters of a Brazilian state, such as SP.'],
    });
  });

  it('refuses a state whose letters only become a state in capitals', () => {
    assert.deepEqual(Object.keys(readAddress({ ...address, estado: 'pı' }).errors ?? {}), [
      'estado',
    ]);
  });
});
