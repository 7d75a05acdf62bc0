// Debian's Chromium, driven by playwright-core.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const PROGRAMS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

// A browser that talks to nobody but the site. The tests may run as root, in a container, without a display.
export function launch() {
  const executablePath = PROGRAMS.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error('there is no Chromium; ./dev install test');
  return chromium.launch({
    executablePath,
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-default-apps',
      '--disable-features=OptimizationHints,MediaRouter,Translate', '--no-proxy-server', '--lang=zh-CN'],
  });
}
