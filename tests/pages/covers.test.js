// The covers: small pictures in one file, on which words are readable.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { contrast } from './support/contrast.js';

const COLOURS = ['--lit', '--paper', '--deep'];
const FLAP = '360 216';

const at = (path) => new URL(`../../${path}`, import.meta.url);
const names = [...readFileSync(at('app/packet/cover.c'), 'utf8').matchAll(/\[COVER_\w+\] = STR\("([a-z-]+)"\)/g)].map((match) => match[1]);
const css = readFileSync(at('static/app.css'), 'utf8');
const svg = readFileSync(at('static/covers.svg'), 'utf8');

const value = (selector, name) => {
  const blocks = [...css.matchAll(/([^{}]+)\{([^{}]*)\}/g)].filter((match) => match[1].trim().endsWith(selector));
  return blocks.map((match) => new RegExp(`(?:^|[ ;])${name}: (#[0-9a-f]+)`).exec(match[2])?.[1]).find(Boolean);
};
const colours = (name) => COLOURS.map((colour) => value(`.cover-${name}`, colour));

const rgb = (colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));

test('there are eight covers, each a view of one small picture', () => {
  assert.equal(names.length, 8);
  const views = [...svg.matchAll(/<view id="([a-z-]+)" viewBox="0 (\d+) (\d+ \d+)"\/>/g)].map(([, ...view]) => view);
  const drawn = [...svg.matchAll(/<use href="#art-([a-z-]+)" y="(\d+)" width="(\d+)" height="(\d+)"\/>/g)]
    .map(([, name, y, width, height]) => [name, y, `${width} ${height}`]);
  assert.deepEqual(views.slice(0, names.length).map(([name, , size]) => [name, size]), names.map((name) => [name, FLAP]));
  assert.deepEqual(views.filter(([name]) => name !== 'coin'), drawn, 'a view shows its picture');
  const ids = [...svg.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
  assert.equal(new Set(ids).size, ids.length);
  for (const [, id] of svg.matchAll(/(?:href="#|url\(#)([^")]+)/g)) assert.ok(ids.includes(id), id);
  assert.doesNotMatch(svg, /<text|<image|<style|<script|href="(?!#)|url\((?!#)/, 'it needs nothing from outside');
  assert.ok(svg.length <= 20 * 1024 && gzipSync(svg).length <= 4 * 1024, `${svg.length} bytes, ${gzipSync(svg).length} compressed`);
});

// A part of covers.svg with everything that it uses: its lines, each of one element or of the views.
function alone(name) {
  const lines = svg.trim().split('\n');
  const used = (line) => [...line.matchAll(/(?:href="#|url\(#)([^")]+)/g)].map(([, id]) => id);
  const idOf = (line) => /^<(?!view)\w+ id="([^"]+)"/.exec(line)?.[1];
  const wanted = new Set([`art-${name}`, 'art-sea']);
  for (const id of wanted) used(lines.find((line) => idOf(line) === id)).forEach((other) => wanted.add(other));
  const place = (id, y) => `<use href="#art-${id}" y="${y}" width="360" height="${id === 'sea' ? 64 : 216}"/>`;
  const definitions = lines.filter((line) => wanted.has(idOf(line)));
  return [lines[0], '<view id="sea" viewBox="0 240 360 64"/>', '<defs>', ...definitions, '</defs>', place(name, 0), place('sea', 240),
    '</svg>', ''].join('\n');
}

test('the flap of each cover is also a file of its own; HB_TEST_UPDATE_FLAPS=1 writes them', () => {
  for (const name of names) {
    const file = at(`static/flap-${name}.svg`);
    if (process.env.HB_TEST_UPDATE_FLAPS) writeFileSync(file, alone(name));
    const flap = readFileSync(file, 'utf8');
    assert.equal(flap, alone(name), `${name} is not as in covers.svg`);
    assert.ok(gzipSync(flap).length <= 1400, `${name}: ${gzipSync(flap).length} bytes compressed`);
  }
});

test('there are twelve drawn faces, each a view of one small picture', () => {
  const drawn = readFileSync(at('static/avatars.svg'), 'utf8');
  const words = [...readFileSync(at('app/web/faces.c'), 'utf8').matchAll(/\{ STR\("([a-z]+)"\), \d+, "text\/face_/g)].map(([, word]) => word);
  assert.equal(words.length, 12);
  const views = [...drawn.matchAll(/<view id="([a-z]+)" viewBox="-4\.4 (-?[\d.]+) 48\.8 48\.8"\/>/g)];
  assert.deepEqual(views.map(([, word]) => word), words);
  const tops = [...drawn.matchAll(/^<g(?: transform="translate\(0 (\d+)\)")?>/gm)].map(([, top = '0']) => Number(top));
  assert.deepEqual(views.map(([, , top]) => Math.round(Number(top) + 6.8)), tops, 'a view shows its picture');
  // The picture of a year moves to a face by its number, and uses everything from the first <g on.
  const step = Number(/DRAWING_FACE_STEP = (\d+)/.exec(readFileSync(at('app/pages/drawing.h'), 'utf8'))[1]);
  assert.deepEqual(tops, words.map((_, i) => i * step));
  assert.match(drawn.slice(0, drawn.indexOf('<g')), /^<svg [^>]*>\n(?:<view [^>]*>\n)+$/, 'nothing is drawn before');
  assert.doesNotMatch(drawn, /<text|<image|<style|<script|href=|url\(/, 'it needs nothing from outside');
  assert.ok(drawn.length <= 12 * 1024 && gzipSync(drawn).length <= 2 * 1024, `${drawn.length} bytes, ${gzipSync(drawn).length} compressed`);
});

test('pictures have the colours of the pages', () => {
  const rows = readFileSync(at('app/pages/covers.c'), 'utf8').matchAll(/^    \[COVER_(\w+)\] = \{[^}]*?STR\("(#\w+)"\), STR\("(#\w+)"\), STR\("(#\w+)"\)/gm);
  const found = [...rows].map(([, name, ...three]) => [name.toLowerCase().replaceAll('_', '-'), ...three]);
  assert.deepEqual(found, names.map((name) => [name, ...colours(name)]));
  for (const name of names) {
    const [, paper, lit] = new RegExp(`<symbol id="art-${name}"[^>]* color="(#\\w+)".*?<use href="#flap" fill="(#\\w+)"`).exec(svg);
    assert.deepEqual([lit, paper], colours(name).slice(0, 2), name);
  }
});

test('words are readable on every cover', () => {
  const words = value(':root', '--foil');
  for (const name of names) {
    for (const colour of colours(name)) {
      assert.match(colour ?? '', /^#[0-9a-f]{6}$/, `${name} lacks a colour`);
      const ratio = contrast(rgb(words), rgb(colour));
      assert.ok(ratio >= 4.5, `${words} on ${colour} of ${name}: ${ratio.toFixed(2)}`);
    }
  }
});
