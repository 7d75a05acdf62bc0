// The units of money of the sites under test: how each writes and reads amounts. tests/support/servers takes their settings
// from docs/how-to/unit.md.
import { hongbao } from './instance.js';

// reads: what people type, with its smallest units; refuses: what is no amount of the unit. foreign: what pages of such a
// site never show, the signs of other units. says: what messages call an amount.
const UNITS = {
  POINT: {
    says: 'POINT without decimals, such as 88', decimals: 0, symbol: '', zh: '积分', en: 'points', foreign: /[¥￥元]|块钱|yuan|HK\$|\d\.\d\d(?!\d)|两位小数|two decimals/i,
    reads: [['5', 5], ['005 积分', 5], ['1,000积分', 1000], ['POINT 5', 5], ['５points', 5]],
    refuses: ['1.5', '0.01', '5.0', '¥5', '5元', '5块', 'HK$5'],
  },
  HKD: {
    says: 'HKD, such as 88 or 88.50', decimals: 2, symbol: 'HK$', zh: '港元', en: 'Hong Kong dollars', foreign: /[¥￥]|(?<!港\u2060?)元|块钱|yuan|积分/i,
    reads: [['HK$5', 500], ['1.5 港元', 150], ['HKD1,000.05', 100005], ['5 Hong Kong dollars', 500], ['ＨＫ＄5', 500]],
    refuses: ['¥5', '￥5', '$5', '0.001', '5积分'],
  },
};

const code = (await hongbao('setting', 'unit')).stdout.trim();

// The unit of the site under test.
export const unit = { code, ...UNITS[code] };

const scale = 10 ** unit.decimals;

// Smallest units of so many units.
export const smallest = (units) => Math.round(units * scale);

// Smallest units as a number of the unit: "12.34", "1234".
export const text = (fen) => (fen / scale).toFixed(unit.decimals);

// The same as a sentence of this language has it, with the sign of the unit.
export const shown = (language, fen) => {
  if (language === 'zh-CN') return `${text(fen)}${unit.zh}`;
  return unit.symbol ? `${unit.symbol}${text(fen)}` : `${text(fen)} ${unit.en}`;
};

// The same as it is shown large: in each language with the symbol, when there is one.
export const large = (language, fen) => (unit.symbol ? `${unit.symbol}${text(fen)}` : shown(language, fen));

// The text of a page without its tags, with single blanks.
export const plain = (html) => html.replace(/<(script|style)\b.*?<\/\1>/gs, '').replace(/<wbr>|<\/?(small|b|bdi|span|s)\b[^>]*>/g, '')
  .replace(/<[^>]*>/g, ' ').replaceAll('&nbsp;', ' ').replaceAll('\u2060', '').replaceAll('&amp;', '&').replace(/\s+/g, ' ');
