/** The smallest and the greatest id that begin with these hexadecimal digits, as digits. */
export function idRange(prefix: string): { readonly from: string; readonly to: string } {
  const digits = prefix.slice(0, ID_DIGITS);
  return { from: digits.padEnd(ID_DIGITS, '0'), to: digits.padEnd(ID_DIGITS, 'f') };
}

const ID_DIGITS = 32;
