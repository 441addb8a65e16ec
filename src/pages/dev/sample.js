/* Sample data for the onboarding: a person who is new at each press, and documents. */

/** A person with an e-mail and a CPF of their own; by the names of the fields. */
export function samplePerson() {
  const base = String(100_000_000 + Math.floor(Math.random() * 899_999_999));
  const password = 'correct horse';
  return {
    name: 'Carla Dias',
    email: `carla.${base}@example.com`,
    phone: '+55 11 98765-4321',
    password,
    password_confirmation: password,
    document: withCheckDigits(base),
  };
}

/** Adds the two check digits of a CPF to its nine first ones. */
function withCheckDigits(base) {
  const digits = [...base].map(Number);
  while (digits.length < 11) {
    const sum = digits.reduce((all, one, at) => all + one * (digits.length + 1 - at), 0);
    digits.push(((sum * 10) % 11) % 10);
  }
  return digits.join('');
}

/** A PDF of one empty page; the kind in it makes each one another file. */
export function sampleDocument(kind) {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>',
  ];
  let text = `%PDF-1.4\n% sample of kind ${kind}, ${crypto.randomUUID()}\n`;
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  text += `xref\n0 4\n0000000000 65535 f \n${rows}`;
  text += `trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return new File([text], `sample-${kind}.pdf`, { type: 'application/pdf' });
}
