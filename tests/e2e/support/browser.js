// Debian's Chromium, driven by playwright-core.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const PROGRAMS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export function program() {
  const path = PROGRAMS.find((name) => name && existsSync(name));
  if (!path) throw new Error('there is no Chromium; ./dev install test');
  return path;
}

// Starts a browser that connects to the site only. The tests may run as root, in a container, without a display. extra:
// environment, e.g. { FONTCONFIG_FILE: '…' }. more: arguments of Chromium.
export function launch(extra = {}, more = []) {
  return chromium.launch({
    executablePath: program(),
    env: { ...process.env, ...extra },
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-default-apps',
      '--disable-features=OptimizationHints,MediaRouter,Translate', '--no-proxy-server', '--lang=zh-CN', ...more],
  });
}
