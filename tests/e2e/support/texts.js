// Reads the catalogues of texts, so that tests do not repeat their words.
import { readFileSync } from 'node:fs';

export const LANGUAGES = ['zh-CN', 'en'];

const catalogues = new Map(LANGUAGES.map((language) => {
  const file = readFileSync(new URL(`../../../templates/text/${language}.txt`, import.meta.url), 'utf8');
  return [language, new Map([...file.matchAll(/^([\w-]+) = (.*)$/gm)].map(([, key, text]) => [key, text]))];
}));

// The text of a key in the catalogue, with value in place of {{value}}. undefined: there is none.
export const words = (language, key, value = '') => catalogues.get(language).get(key)?.replaceAll('{{value}}', value);
