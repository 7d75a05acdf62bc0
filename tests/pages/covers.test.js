// The covers: small pictures, and words on them that can be read in light and dark.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

const at = (path) => new URL(`../../${path}`, import.meta.url);
const names = [...readFileSync(at('app/packet/cover.c'), 'utf8').matchAll(/\[COVER_\w+\] = STR\("([a-z-]+)"\)/g)].map((match) => match[1]);
const css = readFileSync(at('static/app.css'), 'utf8');
const [light, dark] = [css.replace(/@media \(prefers-color-scheme: dark\) \{[\s\S]*?\n\}/g, ''),
  [...css.matchAll(/@media \(prefers-color-scheme: dark\) \{([\s\S]*?)\n\}/g)].map((match) => match[1]).join('\n')];

const value = (text, selector, name) => {
  const blocks = [...text.matchAll(/([^{}]+)\{([^{}]*)\}/g)].filter((match) => match[1].trim().endsWith(selector));
  return blocks.map((match) => new RegExp(`(?:^|[ ;])${name}: (#[0-9a-f]+)`).exec(match[2])?.[1]).find(Boolean);
};

const luminance = (colour) => {
  const long = colour.length === 4 ? colour.replace(/[0-9a-f]/g, '$&$&') : colour;
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(long.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

test('there are eight covers, each with a small picture of its own', () => {
  assert.equal(names.length, 8);
  const files = readdirSync(at('static/')).filter((file) => file.startsWith('cover-'));
  assert.deepEqual(files.sort(), names.map((name) => `cover-${name}.svg`).sort());
  for (const file of files) {
    const svg = readFileSync(at(`static/${file}`), 'utf8');
    assert.ok(svg.length <= 3072, `${file} has ${svg.length} bytes`);
    assert.doesNotMatch(svg, /<text|<image|<style|<script|href="(?!#)|url\((?!#)/, `${file} needs nothing from outside`);
  }
});

test('pictures to share have the colours of the pages', () => {
  const rows = readFileSync(at('app/pages/covers.c'), 'utf8').matchAll(/^    \[COVER_(\w+)\] = \{[^}]*?STR\("(#\w+)"\), STR\("(#\w+)"\)/gm);
  const found = [...rows].map(([, name, ...colours]) => [name.toLowerCase().replaceAll('_', '-'), ...colours]);
  assert.deepEqual(found.map(([name]) => name), names);
  for (const [name, ground, low] of found) {
    assert.deepEqual([ground, low], ['--red', '--red-low'].map((which) => value(light, `.cover-${name}`, which) ?? value(light, ':root', which)));
  }
});

for (const [scheme, text] of [['light', light], ['dark', dark]]) {
  test(`words are readable on every cover (${scheme})`, () => {
    const words = value(light, ':root', '--on-red');
    for (const name of names) {
      for (const ground of ['--red', '--red-low', '--red-edge']) {
        const colour = value(text, `.cover-${name}`, ground) ?? value(text, ':root', ground);
        assert.match(colour ?? '', /^#[0-9a-f]{6}$/, `${name} has no ${ground}`);
        const ratio = contrast(words, colour);
        assert.ok(ratio >= 4.5, `${words} on ${colour} of ${name}: ${ratio.toFixed(2)}`);
      }
    }
  });
}
