// The dashboard as a person uses it, in a real browser, on real logs. OSLER_PROGRAM names the program; with
// OSLER_SCREENSHOTS every page is also photographed into that folder, in light and dark, wide and narrow.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
const program = process.env.OSLER_PROGRAM ?? join(here, '../../build/osler');
const pictures = process.env.OSLER_SCREENSHOTS;
const patience = 30_000;

let folder, server, address, browser;
const complaints = [];

/** A log whose loss becomes NaN, in a file whose name tries to be markup. */
function hostileLog() {
  const rows = ['step,train_loss,<img src=x onerror=window.hit=1>'];
  for (let i = 0; i < 200; ++i) rows.push(`${i},${i < 150 ? 2 * Math.exp(-i / 60) + 0.01 * (i % 7) : 'nan'},${i % 5}`);
  return rows.join('\n') + '\n';
}

async function open(path = '', options = {}) {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(patience);
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(address + path);
  return page;
}

/** Opens a run from the list, as a person does. */
async function openRun(page, name) {
  await page.getByRole('link', { name }).click();
  await page.getByRole('heading', { name: 'Findings' }).waitFor();
  await page.locator('.chart canvas').first().waitFor();
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'osler-e2e-'));
  cpSync(join(here, '../../examples/logs'), join(folder, 'logs'), { recursive: true });
  writeFileSync(join(folder, '<b>bold<script>window.hit=1<!--.csv'), hostileLog());
  server = spawn(program, ['serve', folder, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  address = await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`osler serve ended with ${code}`)));
    server.stdout.once('data', (text) => resolve(String(text).trim()));
  });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
});

after(async () => {
  await browser?.close();
  server?.kill('SIGINT');
  rmSync(folder, { recursive: true, force: true });
});

test('the list shows every run, the sick ones first, and can be searched and filtered', async () => {
  const page = await open();
  const rows = page.locator('.rows .row');
  await page.locator('.rows .badge.critical').first().waitFor();
  await page.locator('.rows .badge.healthy').first().waitFor();
  assert.equal(await rows.count(), 3);
  assert.match(await rows.first().innerText(), /Critical/);
  assert.match(await rows.last().innerText(), /Healthy[\s\S]*healthy\.csv[\s\S]*Nothing wrong/);
  await page.getByRole('searchbox').fill('sick');
  await rows.nth(1).waitFor({ state: 'detached' });
  assert.match(await rows.first().innerText(), /train_loss climbed/);
  await page.getByRole('searchbox').fill('');
  await page.getByRole('button', { name: /^Healthy 1/ }).click();
  await rows.nth(1).waitFor({ state: 'detached' });
  assert.match(await rows.first().innerText(), /healthy\.csv/);
  await page.close();
});

test('a run starts with its verdict, and a finding marks its evidence in the charts', async () => {
  const page = await open();
  await openRun(page, 'sick.csv');
  assert.match(await page.getByRole('heading', { level: 1 }).innerText(), /Critical[\s\S]*train_loss climbed from/);
  assert.equal(await page.locator('.chart.marked').count(), 0);
  const first = page.locator('.finding .face').first();
  await first.focus();
  await page.keyboard.press('Enter');
  await page.locator('.chart.marked').first().waitFor();
  assert.equal(await first.getAttribute('aria-pressed'), 'true');
  assert.match(await page.locator('.chart.marked').first().innerText(), /train_loss/);
  assert.match(await page.locator('.cause').first().innerText(), /%[\s\S]*What to change[\s\S]*Copy[\s\S]*For/);
  assert.ok((await page.locator('.record').innerText()).includes('Not checked'));
  await page.close();
});

test('a zoom in one chart zooms all of them, and Escape shows everything again', async () => {
  const page = await open();
  await openRun(page, 'sick.csv');
  const asked = page.waitForRequest((request) => /series\?name=lr.*from=\d+/.test(request.url()));
  const box = await page.locator('.chart .u-over').first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 50, { steps: 5 });
  await page.mouse.up();
  await asked;
  assert.match(await page.locator('.zoom').innerText(), /Steps .* to .*Show all/);
  await page.keyboard.press('Escape');
  await page.getByText('Drag across a chart').waitFor();
  await page.close();
});

test('what a training writes appears without a reload', async () => {
  const page = await open();
  const row = page.locator('.rows .row', { hasText: 'healthy.csv' });
  await row.getByText('1\u202f495').waitFor();
  appendFileSync(join(folder, 'logs/healthy.csv'), '1500,0.031,,,0.0001,0.05\n');
  await row.getByText('1\u202f500').waitFor();
  await page.close();
});

test('markup in the names of files and series is shown, never run', async () => {
  const page = await open();
  await openRun(page, /bold/);
  assert.match(await page.locator('.trail').innerText(), /<b>bold<script>/);
  await page.locator('.chart', { hasText: 'onerror' }).first().waitFor();
  assert.equal(await page.evaluate(() => window.hit), undefined);
  await page.close();
});

test('the catalogue has a page for each finding, and the tree can be walked', async () => {
  const page = await open('#/catalogue');
  await page.getByRole('searchbox').fill('overfitting');
  await page.locator('.catalogue nav li a').first().click();
  await page.locator('article .prose').waitFor();
  await page.goto(`${address}#/tree`);
  await page.locator('.question').first().waitFor();
  await page.getByRole('button', { name: 'Yes' }).first().click();
  await page.locator('.way li').nth(1).waitFor();
  await page.close();
});

test('no page complained', () => assert.deepEqual(complaints, []));

test('pictures of every page', { skip: !pictures }, async () => {
  for (const colorScheme of ['light', 'dark']) {
    for (const [shape, viewport] of [['wide', { width: 1440, height: 1000 }], ['narrow', { width: 390, height: 844 }]]) {
      const page = await open('', { colorScheme, viewport });
      const shoot = (name) => page.screenshot({ path: join(pictures, `${name}-${colorScheme}-${shape}.png`), fullPage: true });
      await page.locator('.rows .badge.critical').first().waitFor();
      await shoot('runs');
      await openRun(page, 'sick.csv');
      await page.locator('.finding .face').first().click();
      await page.locator('.chart.marked').first().waitFor();
      await page.waitForTimeout(800);
      await shoot('run');
      await page.goto(`${address}#/tree`);
      await page.getByRole('button', { name: 'No' }).first().click();
      await shoot('tree');
      await page.goto(`${address}#/catalogue`);
      await page.locator('.catalogue nav a').nth(4).click();
      await page.locator('article .prose').waitFor();
      await shoot('catalogue');
      await page.close();
    }
  }
});
