// Debian's WebKit (WebKitGTK and its MiniBrowser), driven by selenium-webdriver, on a separate display.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import selenium from 'selenium-webdriver';
import { poll } from '../../support/poll.js';
import { freePort } from '../../support/port.js';

const { Builder, By, Capabilities } = selenium;
const LIBRARIES = '/usr/lib';

function miniBrowser() {
  const folders = readdirSync(LIBRARIES).filter((name) => name.endsWith('-linux-gnu')).map((name) => `${LIBRARIES}/${name}`);
  for (const folder of folders) {
    const name = readdirSync(folder).filter((entry) => entry.startsWith('webkit2gtk-')).sort().at(-1);
    if (name) return `${folder}/${name}/MiniBrowser`;
  }
  throw new Error('there is no WebKit; ./dev install test');
}

// A display without a screen: { name, kill }. The server takes a free number and writes it.
async function display() {
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1024x900x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const number = await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`Xvfb ends with ${code}`)));
    server.stdio[3].once('data', (text) => resolve(String(text).trim()));
  });
  return { name: `:${number}`, kill: () => server.kill() };
}

// Starts it: {
//   goto(url), url(), has(selector), text(): of main, fill(selector, text), click(selector), color(): the page's background,
// problems: errors of the browser (none here: the driver does not report them), close() }.
export async function webkit({ javaScript = true, dark = false } = {}) {
  const screen = await display();
  const port = await freePort();
  const driver = spawn('WebKitWebDriver', [`--port=${port}`], {
    stdio: 'ignore', env: { ...process.env, DISPLAY: screen.name, GTK_THEME: dark ? 'Adwaita:dark' : 'Adwaita' },
  });
  const address = `http://127.0.0.1:${port}`;
  await poll('WebKitWebDriver answers', () => fetch(`${address}/status`).then(({ ok }) => ok, () => false));
  const options = { binary: miniBrowser(), args: ['--automation', `--enable-javascript=${javaScript ? 'TRUE' : 'FALSE'}`] };
  const capabilities = new Capabilities({ browserName: 'MiniBrowser', 'webkitgtk:browserOptions': options });
  const stop = () => [driver, screen].forEach((server) => server.kill());
  const session = await new Builder().usingServer(address).withCapabilities(capabilities).build()
    .catch((error) => { stop(); throw error; });
  const find = (selector) => session.findElement(By.css(selector));
  return {
    problems: [],
    goto: (url) => session.get(url),
    url: () => session.getCurrentUrl(),
    has: async (selector) => (await session.findElements(By.css(selector))).length > 0,
    // The driver's getText leaves out text inside a <bdi>.
    text: () => session.executeScript('return document.querySelector("main").innerText'),
    fill: (selector, text) => find(selector).sendKeys(text),
    click: (selector) => find(selector).click(),
    color: () => find('body').getCssValue('background-color'),
    async close() {
      await session.quit().finally(stop);
    },
  };
}
