/** Texts of any characters, for property tests. */
import fc from 'fast-check';

const [firstSurrogate, surrogates, last] = [0xd800, 0x800, 0x10ffff];

/** The binary strings of fast-check, which spend a second on a map of all characters. */
export const anyCharacters = fc.string({
  unit: fc
    .nat(last - surrogates)
    .map((at) => String.fromCodePoint(at < firstSurrogate ? at : at + surrogates)),
});
