/** Formats of the numbers in spreadsheets that have no text of their own (ECMA-376, 18.8.30). */
const builtIn: Record<number, string> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss',
  48: '0.0E+0',
  49: '@',
};

export function builtInFormat(id: number): string {
  return builtIn[id] ?? 'General';
}

/** Returns a number of a cell as it reads. Dates are in ISO 8601, which every reader understands. */
export function formatNumber(value: number, format: string, since1904: boolean): string {
  const [positive = '', negative, zero] = format.split(';');
  const section = value < 0 && negative ? negative : value === 0 && zero ? zero : positive;
  // Brackets hold colours, conditions and currencies; quotes and backslashes, literal text.
  const literal = section.replaceAll(/"[^"]*"|\\.|_.|\*./g, '');
  const elapsed = /\[(h+|m+|s+)\]/i.test(literal);
  const bare = literal.replaceAll(/\[[^\]]*\]/g, '');
  if (elapsed || (/[ymdhs]/i.test(bare) && !/[0#?]/.test(bare.replaceAll(/s\.0+/gi, 's')) && !/general/i.test(bare)))
    return formatDate(value, elapsed ? 'h' : bare, since1904);
  if (bare === '' || /general/i.test(bare) || bare === '@') return general(value);
  if (/e[+-]/i.test(bare)) return value.toExponential(decimalsOf(bare));
  if (bare.includes('/')) return general(value);
  const percent = bare.includes('%');
  const scaled = Math.abs(value) * (percent ? 100 : 1);
  const text = scaled.toLocaleString('en-US', {
    minimumFractionDigits: Math.min(20, decimalsOf(bare)),
    maximumFractionDigits: Math.min(20, decimalsOf(bare) + optionalDecimals(bare)),
    useGrouping: bare.includes(','),
  });
  const [, before = '', after = ''] = /^([^0#?]*)[0#?.,\s]*(?:%)?(.*)$/s.exec(withSigns(section)) ?? [];
  const sign = value < 0 && !(negative && section === negative && /[-(]/.test(negative)) ? '-' : '';
  return `${sign}${before}${text}${percent ? '%' : ''}${after}`.trim();
}

/** Returns a section of a format with its literal text and currency signs, and without the rest. */
function withSigns(section: string): string {
  return section
    .replaceAll(/\[\$([^\]-]*)[^\]]*\]/g, '$1')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/_.|\*./g, '')
    .replaceAll(/"([^"]*)"/g, '$1')
    .replaceAll(/\\(.)/g, '$1');
}

function decimalsOf(format: string): number {
  return /\.(0+)/.exec(format)?.[1]?.length ?? 0;
}

function optionalDecimals(format: string): number {
  return /\.0*([#?]+)/.exec(format)?.[1]?.length ?? 0;
}

/** Returns a number with the fifteen digits that a spreadsheet shows. */
function general(value: number): string {
  return String(Number(value.toPrecision(15)));
}

const dayMs = 86_400_000;

function formatDate(value: number, format: string, since1904: boolean): string {
  // Day 60 of the year 1900 does not exist; spreadsheets count it.
  const days = since1904 ? value + 1_462 : value < 60 ? value + 1 : value;
  const time = new Date(Math.round((days - 25_569) * dayMs));
  if (Number.isNaN(time.getTime())) return general(value);
  const iso = time.toISOString();
  const hasDay = /[yd]/i.test(format) || /mmm/i.test(format);
  const hasTime = /[hs]/i.test(format);
  const seconds = /s/i.test(format);
  if (!hasDay && hasTime) {
    const total = Math.round(value * 86_400);
    const [hours, minutes, rest] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
    const two = (part: number) => String(part).padStart(2, '0');
    return `${two(hours)}:${two(minutes)}${seconds || rest > 0 ? `:${two(rest)}` : ''}`;
  }
  const day = /d/i.test(format) ? iso.slice(0, 10) : /y/i.test(format) ? iso.slice(0, 7) : iso.slice(0, 10);
  return hasTime ? `${iso.slice(0, 10)} ${iso.slice(11, seconds ? 19 : 16)}` : day;
}
