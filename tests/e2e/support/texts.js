// Reads the catalogues of texts, so that tests do not repeat their words.
import { readFileSync } from 'node:fs';

export const LANGUAGES = ['zh-CN', 'en'];

// The unit of the tests' sites: texts that the program makes (app/web/unit_texts.h).
const UNIT = { unit_least: '0.01', unit_zero: '0.00', unit_example: '88.88' };
const SIGNS = { 'zh-CN': { unit: '元', before: '', after: '\u2060元' }, en: { unit: '¥', before: '¥', after: '' } };

const catalogues = new Map(LANGUAGES.map((language) => {
  const file = readFileSync(new URL(`../../../templates/text/${language}.txt`, import.meta.url), 'utf8');
  const { unit, before, after } = SIGNS[language];
  const written = (text) => text.replaceAll(/¥\(([^)]*)\)/g, `${before}$1${after}`)
    .replaceAll(/\{\{<text\/unit_decimals\}\}.*\{\{\$two\}\}(.*?)\{\{\/two\}\}.*\{\{\/text\/unit_decimals\}\}/g, '$1')
    .replaceAll(/\{\{>text\/(unit\w*)\}\}/g, (tag, key) => ({ ...UNIT, unit })[key] ?? tag);
  return [language, new Map([...file.matchAll(/^([\w-]+) = (.*)$/gm)].map(([, key, text]) => [key, written(text)]))];
}));

// The text of a key in the catalogue, with value in place of {{value}}. undefined: there is none.
export const words = (language, key, value = '') => catalogues.get(language).get(key)?.replaceAll('{{value}}', value);
