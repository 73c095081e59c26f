// The dashboard as a person uses it, in a real browser, on real logs. OSLER_PROGRAM names the program; with
// OSLER_SCREENSHOTS every page is also photographed into that folder, in light and dark, wide and narrow.
// OSLER_SLOWEST_ANSWER=1500 keeps answers back by up to 1.5 seconds.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hostileLog, makeFolder, openRun, program, raise, writeMany } from './stage.mjs';

const pictures = process.env.OSLER_SCREENSHOTS;
let folder, stage, open;

before(async () => {
  folder = makeFolder();
  stage = await raise([folder]);
  open = stage.open;
});

after(() => stage?.fall(folder));

/** Drags across a chart from one share of its width to another. */
async function drag(page, from, to, key) {
  const box = await page.locator('.chart .u-over').first().boundingBox();
  if (key) await page.keyboard.down(key);
  await page.mouse.move(box.x + box.width * from, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, box.y + 50, { steps: 5 });
  await page.mouse.up();
  if (key) await page.keyboard.up(key);
}

test('the list shows every run, the sick ones first, and can be searched and filtered', async () => {
  const page = await open();
  const rows = page.locator('.rows .row');
  await page.locator('.rows .badge.critical').first().waitFor();
  await page.locator('.row', { hasText: 'healthy.csv' }).locator('.badge.healthy').waitFor();
  await page.locator('.row', { hasText: 'logs/sick.csv' }).locator('.badge.critical').waitFor();
  assert.match(await rows.first().innerText(), /Critical/);
  await page.getByRole('searchbox').fill('logs/sick');
  await rows.nth(1).waitFor({ state: 'detached' });
  assert.match(await rows.first().innerText(), /train_loss climbed/);
  await page.getByRole('searchbox').fill('');
  await page.getByRole('button', { name: /^Healthy/ }).click();
  await page.locator('.rows .badge.critical').first().waitFor({ state: 'detached' });
  await page.locator('.rows .row', { hasText: 'healthy.csv' }).waitFor();
  await page.close();
});

test('a run starts with its verdict, and a finding marks its evidence in the charts', async () => {
  const page = await open();
  const asked = [];
  page.on('request', (request) => request.url().includes('/series?') && asked.push(request.url()));
  await page.locator('.rows .row', { hasText: 'logs/sick.csv' }).locator('.badge.critical').waitFor();
  await openRun(page, 'logs/sick.csv');
  assert.ok(asked.length > 0 && new Set(asked).size === asked.length, asked.join('\n'));
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

test('a loss that spans decades is drawn on a logarithmic axis unless somebody says otherwise', async () => {
  const page = await open();
  await openRun(page, 'logs/sick.csv');
  const log = page.locator('.chart', { hasText: 'Loss' }).first().getByRole('button', { name: 'log', exact: true });
  assert.equal(await log.getAttribute('aria-pressed'), 'true');
  await log.click();
  assert.equal(await log.getAttribute('aria-pressed'), 'false');
  await page.close();
});

test('a zoom in one chart zooms all, keys and Shift move it, and Escape shows everything again', async () => {
  const page = await open();
  await openRun(page, 'kept.osler');
  const asked = page.waitForRequest((request) => /series\?name=lr.*from=\d+/.test(request.url()));
  await drag(page, 0.25, 0.5);
  await asked;
  const zoom = page.locator('.zoom');
  assert.match(await zoom.innerText(), /\d to .*Show all/);
  const before = await zoom.innerText();
  await drag(page, 0.5, 0.4, 'Shift');
  await page.waitForFunction((old) => document.querySelector('.zoom').innerText !== old, before);
  const panned = await zoom.innerText();
  await page.locator('.plot').first().focus();
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction((old) => document.querySelector('.zoom').innerText !== old, panned);
  await page.keyboard.press('Escape');
  await page.getByText('Drag to zoom').waitFor();
  await page.close();
});

test('curves can be smoothed, drawn by epoch and on a logarithmic scale, and more series added', async () => {
  const page = await open();
  await openRun(page, /^lab$/);
  await page.getByRole('button', { name: 'Epoch', exact: true }).click();
  await page.locator('.panel [aria-pressed=true]', { hasText: 'Epoch' }).waitFor();
  await page.getByRole('slider').fill('3');
  const log = page.getByRole('button', { name: 'log', exact: true }).first();
  assert.equal(await log.getAttribute('aria-pressed'), 'false');
  await log.click();
  await page.locator('.chart .buttons [aria-pressed=true]').first().waitFor();
  const charts = await page.locator('.chart .u-wrap').count();
  await page.locator('.picker summary').click();
  await page.locator('.picker li button').first().click();
  await page.waitForFunction((old) => document.querySelectorAll('.chart .u-wrap').length > old, charts);
  await page.close();
});

test('a run with experiments and an origin shows them', async () => {
  const page = await open();
  await openRun(page, /^lab$/);
  assert.match(await page.locator('.ops').innerText(), /log-of-zero[\s\S]*loss[\s\S]*not finite/);
  const experiments = page.locator('.experiment');
  await experiments.nth(3).waitFor();
  assert.match(await experiments.nth(0).innerText(), /Checkup[\s\S]*Failed[\s\S]*Overfit one batch/);
  assert.match(await experiments.nth(1).innerText(), /Top eigenvalue[\s\S]*41\.2[\s\S]*39\.8 to 42\.7/);
  await experiments.nth(2).locator('.surface canvas').waitFor();
  assert.match(await experiments.nth(3).locator('svg.lab').getAttribute('aria-label'), /Loss by Learning rate/);
  assert.match(await experiments.nth(3).locator('.place').innerHTML(), /Suggested learning rate/);
  await page.close();
});

test('layers by time and distributions are drawn where a run has them', async () => {
  const page = await open();
  await openRun(page, 'depth.csv');
  const map = page.locator('.heat canvas[role=img]');
  await map.waitFor();
  assert.match(await map.getAttribute('aria-label'), /8 layers by time/);
  // A canvas can be pointed at before it is drawn, and says nothing until the pointer moves again.
  for (let x = 100; !/layers\.0\.weight, steps \d/.test(await page.locator('.heat .said').first().innerText()); x = (x + 10) % 400) await map.hover({ position: { x, y: 5 } });
  await map.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.locator('.heat .said', { hasText: /layers\.[12]\.weight, steps/ }).first().waitFor();
  await page.goto(`${stage.address}#/`);
  await openRun(page, /^board$/);
  await page.locator('.ridges path').first().waitFor();
  await page.getByRole('button', { name: 'Time', exact: true }).click();
  await page.locator('.panel [aria-pressed=true]', { hasText: 'Time' }).waitFor();
  await page.close();
});

test('chosen runs are laid over each other, with the place where they part', async () => {
  const page = await open();
  await page.getByLabel('Choose logs/healthy.csv to compare').check();
  await page.getByLabel('Choose logs/sick.csv to compare').check();
  await page.getByRole('link', { name: 'Compare 2 runs' }).click();
  await page.locator('.against', { hasText: 'They part first in lr' }).waitFor();
  assert.match(await page.locator('.standing').innerText(), /Worse/);
  await page.locator('.chart canvas').first().waitFor();
  assert.match(await page.locator('.chart').first().innerText(), /1 train_loss[\s\S]*2 train_loss/);
  await page.getByRole('button', { name: 'From start', exact: true }).click();
  await page.getByRole('link', { name: 'make this the first' }).click();
  await page.locator('.standing.better').waitFor();
  await page.close();
});

test('what a training writes appears without a reload, in the list and in an open run', async () => {
  const page = await open();
  const row = page.locator('.rows .row', { hasText: 'healthy.csv' });
  await row.getByText('1,495').waitFor();
  appendFileSync(join(folder, 'logs/healthy.csv'), '1500,0.031,,,0.0001,0.05\n');
  await row.getByText('1,500').waitFor();
  await openRun(page, 'healthy.csv');
  appendFileSync(join(folder, 'logs/healthy.csv'), '1505,0.031,,,0.0001,0.05\n');
  await page.locator('.verdict', { hasText: 'steps 0 to 1,505' }).waitFor();
  await page.goto(`${stage.address}#/`);
  writeFileSync(join(folder, 'newcomer.csv'), hostileLog());
  await page.locator('.rows .row', { hasText: 'newcomer.csv' }).locator('.badge.critical').waitFor();
  await page.close();
});

test('a change that comes while the list is on its way is not lost', async () => {
  const page = await open('about:blank');
  await page.addInitScript(() => {
    window.heard = '';
    window.EventSource = class extends EventSource {
      constructor(address) {
        super(address);
        super.addEventListener('run', (event) => (window.heard += event.data));
      }
    };
  });
  await page.route('**/api/runs', async (route) => {
    const old = await route.fetch();
    appendFileSync(join(folder, 'logs/healthy.csv'), '1510,0.031,,,0.0001,0.05\n');
    await page.waitForFunction(() => window.heard.includes('"last":1510'));
    await route.fulfill({ response: old });
  });
  await page.goto(stage.address);
  await page.locator('.rows .row', { hasText: 'healthy.csv' }).getByText('1,510').waitFor();
  await page.close();
});

test('an open page finds its server again after a restart, and what was written meanwhile', async () => {
  const own = mkdtempSync(join(tmpdir(), 'osler-again-'));
  writeFileSync(join(own, 'first.csv'), hostileLog());
  const before = await raise([own]);
  const page = await before.open();
  await page.locator('.rows .row', { hasText: 'first.csv' }).locator('.badge.critical').waitFor();
  const ended = new Promise((resolve) => before.server.once('exit', resolve));
  before.server.kill('SIGINT');
  await page.getByText('Not connected').waitFor();
  await ended; // the port is its own until then
  assert.equal(await page.locator('.rows .row').count(), 1);
  writeFileSync(join(own, 'second.csv'), hostileLog());
  const again = await raise([own], { browser: false, port: new URL(before.address).port });
  await page.getByText('Live', { exact: true }).waitFor();
  await page.locator('.rows .row', { hasText: 'second.csv' }).locator('.badge.critical').waitFor();
  assert.equal(await page.locator('.rows .row').count(), 2);
  await before.fall(join(own, 'nothing'));
  await again.fall(own);
});

test('a list that is refused its event stream asks for it again', async () => {
  const page = await open('about:blank');
  let asked = 0;
  await page.route('**/api/events', (route) => (++asked === 1 ? route.fulfill({ status: 503 }) : route.continue()));
  await page.goto(stage.address);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.locator('.rows .row').first().waitFor();
  assert.equal(asked, 2);
  stage.complaints.splice(0, stage.complaints.length, ...stage.complaints.filter((words) => !words.includes('status of 503')));
  await page.close();
});

test('text and lines stand out from what is behind them, in light and dark', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open('', { colorScheme });
    const colours = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      const names = ['page', 'panel', 'ink', 'faint', 'link', 'critical', 'warning', 'note', 'healthy', 'nonfinite', 'field', ...[1, 2, 3, 4, 5, 6, 7].map((i) => `line-${i}`)];
      const long = (hex) => (hex.length === 4 ? hex.replace(/[0-9a-f]/g, '$&$&') : hex);
      return Object.fromEntries(names.map((name) => [name, long(style.getPropertyValue(`--${name}`).trim())]));
    });
    // The contrast of WCAG 2.2: 4.5 for text, 3 for what is drawn.
    const light = (hex) => {
      const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
    };
    const contrast = (a, b) => Math.max(light(a), light(b)) / Math.min(light(a), light(b));
    for (const behind of ['page', 'panel']) {
      for (const name of ['ink', 'faint', 'link', 'critical', 'warning', 'note', 'healthy']) assert.ok(contrast(colours[name], colours[behind]) >= 4.5, `${name} on the ${behind}, ${colorScheme}`);
    }
    for (const [name, value] of Object.entries(colours)) assert.ok(['page', 'panel'].includes(name) || contrast(value, colours.page) >= 3, `${name}, ${colorScheme}`);
    await page.close();
  }
});

test('five thousand runs are listed before they are examined, fill in live, and are searched and sorted as a whole', async () => {
  const kRuns = 5000;
  const many = mkdtempSync(join(tmpdir(), 'osler-many-'));
  writeMany(many, kRuns, 1234);
  const crowd = await raise([many]);
  const page = await crowd.open();
  const rows = page.locator('.rows .row');
  const all = page.getByRole('button', { name: `All ${kRuns}` });
  await all.waitFor();
  assert.ok((await rows.count()) < 100);
  await page.getByRole('button', { name: /^Waiting/ }).waitFor({ state: 'detached' });
  await page.getByRole('searchbox').fill('run-4321');
  await rows.nth(1).waitFor({ state: 'detached' });
  assert.match(await rows.first().innerText(), /run-4321\.csv/);
  await page.getByRole('searchbox').fill('');
  await page.getByRole('button', { name: 'Loss', exact: true }).click();
  await rows.first().getByText('run-1234.csv').waitFor();
  // All that the first view needs, of a list in which every run has its curve.
  await page.reload();
  await all.waitFor();
  await page.locator('.rows .spark').first().waitFor();
  const bytes = await page.evaluate(() => performance.getEntriesByType('resource').reduce((sum, one) => sum + one.transferSize, 0));
  assert.ok(bytes > kRuns * 200 && bytes < kRuns * 500 + 100_000, `${bytes} bytes`);
  assert.deepEqual(crowd.complaints, []);
  await crowd.fall(many);
});

test('markup in the names of files and series is shown, never run', async () => {
  const page = await open();
  await openRun(page, /bold/);
  assert.match(await page.locator('.trail').innerText(), /<b>bold<script>/);
  await page.locator('.chart, .picker', { hasText: /onerror|More series/ }).first().waitFor();
  assert.equal(await page.evaluate(() => window.hit), undefined);
  await page.goto(`${stage.address}#/`);
  await openRun(page, /gpj/);
  await page.locator('.picker summary').click();
  await page.locator('.picker li button').first().click();
  await page.locator('.chart', { hasText: /nnnn/ }).locator('canvas').waitFor();
  // The name is cut wherever it stands, and what it turns around is its own text alone.
  assert.ok((await page.locator('body').innerText()).length < 20_000);
  assert.equal(await page.evaluate(() => [...document.querySelectorAll('*')].filter((one) => [...one.childNodes].some((child) => child.nodeType === 3 && child.data.includes('\u202e')) && !one.closest('bdi, option, title')).length), 0);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.close();
});

test('the catalogue has a page for each finding, and the tree can be walked', async () => {
  const page = await open('#/catalogue');
  await page.getByRole('searchbox').fill('overfitting');
  await page.locator('.catalogue nav li a').first().click();
  await page.locator('article .prose').waitFor();
  await page.goto(`${stage.address}#/tree`);
  await page.locator('.question').first().waitFor();
  await page.getByRole('button', { name: 'Yes' }).first().click();
  await page.locator('.way li').nth(1).waitFor();
  assert.equal(await page.locator('.plane button.walked').count(), 2);
  await page.locator('.plane .leaf-box', { hasText: 'by heart' }).click();
  await page.locator('.way .end', { hasText: 'by heart' }).waitFor();
  assert.equal(await page.locator('.plane .leaf-box.walked').count(), 1);
  await page.goto(`${stage.address}#/`);
  await openRun(page, 'logs/sick.csv');
  await page.getByText('The way through the tree').click();
  await page.getByRole('link', { name: 'See it in the drawing' }).click();
  await page.getByText('The way that the numbers of').waitFor();
  await page.locator('.plane .leaf-box.walked').waitFor();
  await page.close();
});

test('a training of the playground is diagnosed while it runs, and treated', async (t) => {
  const { available, why } = await (await fetch(`${stage.address}api/playground`)).json();
  const page = await open('#/playground');
  if (!available) {
    await page.getByText(why).waitFor();
    await page.close();
    return t.skip(why);
  }
  await page.getByLabel('Start from').selectOption('vanishing-sigmoid');
  await page.getByText('A deep sigmoid network').first().waitFor();
  await page.getByLabel('Start from').selectOption('');
  await page.getByLabel('task', { exact: true }).selectOption('clouds');
  await page.getByLabel('optimizer', { exact: true }).selectOption('sgd');
  for (const [name, value] of [['samples', '200'], ['steps', '80'], ['lr', '100']]) {
    await page.getByLabel(`${name}, exactly`, { exact: true }).fill(value);
    await page.getByLabel(`${name}, exactly`, { exact: true }).press('Enter');
  }
  const depth = page.getByLabel('depth', { exact: true });
  await depth.focus();
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await page.getByLabel('depth, exactly', { exact: true }).inputValue(), '');
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  await page.getByRole('heading', { name: 'Findings' }).waitFor();
  await page.locator('.try .chart canvas').first().waitFor();
  const treat = page.getByRole('button', { name: 'Treat', exact: true });
  await treat.waitFor();
  await page.locator('.try .verdict .badge.critical').waitFor();
  await treat.click();
  await page.getByRole('heading', { name: 'Treatment' }).waitFor();
  assert.match(await page.locator('.treatment').innerText(), /lr[\s\S]*Before[\s\S]*After[\s\S]*Kept/);
  await page.getByRole('button', { name: 'After', exact: true }).click();
  await page.locator('.verdict .trail', { hasText: '-treated' }).waitFor();
  await page.getByRole('link', { name: 'Lay both over each other' }).click();
  await page.locator('.against .config tr', { hasText: 'lr' }).first().waitFor();
  await page.close();
});

test('a probe of the playground shows its verdict and its curve, on a sick and on a healthy training', async (t) => {
  const { available, probes } = await (await fetch(`${stage.address}api/playground`)).json();
  if (!available) return t.skip('this server cannot train');
  const page = await open('#/playground');
  let training; // The page shows an earlier training until this one has begun.
  for (const [lr, verdict] of [['0.000001', 'Failed'], ['0.003', 'Passed']]) {
    await page.getByLabel('Start from').selectOption('');
    await page.getByLabel('lr, exactly', { exact: true }).fill(lr);
    await page.getByLabel('lr, exactly', { exact: true }).press('Enter');
    const begun = page.waitForResponse(/playground\/train$/);
    await page.getByRole('button', { name: 'Train', exact: true }).click();
    training = page.getByRole('region', { name: `Training own-${(await (await begun).json()).id}`, exact: true });
    await training.getByRole('group', { name: 'Probe it' }).waitFor();
    for (const { name } of probes) await training.getByRole('button', { name, exact: true }).waitFor();
    await training.getByRole('button', { name: 'lr-range', exact: true }).click();
    const answer = training.getByRole('region', { name: 'Probe lr-range' });
    await answer.locator('.outcome', { hasText: verdict }).first().waitFor();
    await answer.getByRole('img', { name: /by Learning rate/ }).waitFor();
    assert.match(await answer.innerText(), /Which learning rates can this training take\?[\s\S]*is suggested/);
  }
  // All of them, one by one, on the healthy one.
  for (const { name, question } of probes.filter((probe) => probe.name !== 'lr-range')) {
    await training.getByRole('button', { name, exact: true }).click();
    const answer = training.getByRole('region', { name: `Probe ${name}`, exact: true });
    await answer.getByRole('heading', { name: question }).waitFor();
    assert.ok((await answer.locator('.outcome, .words').count()) > 0, name);
    assert.equal(await answer.locator('.outcome.stopped').count(), 0, name);
  }
  await page.close();
});

test('probes of the playground see what a sick patient of the gallery has', async (t) => {
  const { available } = await (await fetch(`${stage.address}api/playground`)).json();
  if (!available) return t.skip('this server cannot train');
  const page = await open('#/playground');
  for (const [patient, probe, verdict] of [['batch-of-one', 'noise-scale', /so steps are mostly noise/], ['signal-dies-out', 'initialisation', /start badly/]]) {
    await page.getByLabel('Start from').selectOption(patient);
    const begun = page.waitForResponse(/playground\/train$/);
    await page.getByRole('button', { name: 'Train', exact: true }).click();
    const training = page.getByRole('region', { name: `Training ${patient}-${(await (await begun).json()).id}`, exact: true });
    await training.getByRole('button', { name: probe, exact: true }).click();
    const answer = training.getByRole('region', { name: `Probe ${probe}`, exact: true });
    await answer.locator('.outcome', { hasText: 'Failed' }).first().waitFor();
    assert.match(await answer.innerText(), verdict);
  }
  await page.close();
});

test('the course stands beside the playground, and its exercises are checked', async () => {
  const page = await open('#/learn');
  await page.getByRole('heading', { name: 'Why training fails' }).waitFor();
  await page.getByRole('link', { name: 'Finding the learning rate' }).click();
  await page.getByRole('heading', { name: 'Finding the learning rate', level: 1 }).waitFor();
  const figure = page.locator('.learn figure img').first();
  await figure.scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelector('.learn figure img')?.naturalWidth > 0);
  const exercise = page.getByRole('region', { name: 'Exercise 17' });
  await exercise.getByLabel('Answer to exercise 17').fill('0.1');
  await exercise.getByRole('button', { name: 'Check' }).click();
  await exercise.getByText('Not yet.').waitFor();
  await exercise.getByLabel('Answer to exercise 17').fill('0.4');
  await exercise.getByRole('button', { name: 'Check' }).click();
  await exercise.getByText('Right.').waitFor();
  await exercise.getByRole('button', { name: 'Show the solution' }).click();
  await exercise.locator('.solution').waitFor();
  await page.close();
});

test('the playground refuses what no knob takes, and a training can be stopped', async (t) => {
  const page = await open('#/playground');
  const { available } = await (await fetch(`${stage.address}api/playground`)).json();
  if (!available) return t.skip('this server cannot train');
  await page.getByLabel('lr, exactly', { exact: true }).fill('many');
  await page.getByLabel('lr, exactly', { exact: true }).press('Enter');
  const refusal = page.waitForResponse((answer) => answer.url().endsWith('/train') && answer.status() === 400);
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  await refusal;
  await page.getByRole('alert').filter({ hasText: 'lr takes a number' }).waitFor();
  stage.complaints.splice(0, stage.complaints.length, ...stage.complaints.filter((words) => !words.includes('status of 400')));
  await page.getByRole('button', { name: /Set back/ }).click();
  await page.getByLabel('slow data ms, exactly', { exact: true }).evaluate((input) => (input.closest('details').open = true));
  await page.getByLabel('slow data ms, exactly', { exact: true }).fill('100');
  await page.getByLabel('slow data ms, exactly', { exact: true }).press('Enter');
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  await page.getByText(/step \d+ of 400/).waitFor();
  // What is being typed is not taken away by a page that is drawn anew with every step.
  await page.getByLabel('lr, exactly', { exact: true }).fill('0.1234');
  const drawn = await page.locator('.progress').innerText();
  await page.waitForFunction((old) => document.querySelector('.progress').innerText !== old, drawn);
  assert.equal(await page.getByLabel('lr, exactly', { exact: true }).inputValue(), '0.1234');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('You stopped it.').waitFor();
  await page.close();
});

test('the HTML report opens from disk with its charts, asks for nothing, and runs nothing from a log', async () => {
  const file = join(folder, 'report.html');
  spawnSync(program, ['diagnose', '-q', '--html', file, join(folder, 'logs/sick.csv')]);
  assert.ok(statSync(file).size < 1e6);
  const page = await open(`file://${file}`);
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.reload();
  await page.locator('.chart canvas').first().waitFor();
  assert.match(await page.getByRole('heading', { level: 1 }).innerText(), /Critical[\s\S]*train_loss climbed from/);
  await page.locator('.chart.marked').first().waitFor();
  assert.match(await page.locator('.frame').innerText(), /\d{4}-\d\d-\d\d \d\d:\d\d UTC · osler \d/);
  assert.match(await page.locator('.diagnosis').innerText(), /Read from\s+\S*logs\/sick\.csv[\s\S]*train loss\s+train_loss[\s\S]*first train loss\s+\d/);
  // On paper nothing is folded and everything is dark on white; afterwards all is as it was.
  const folded = () => page.locator('.diagnosis details:not([open])').count();
  const before = await folded();
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  assert.ok(before > 0);
  assert.equal(await folded(), 0);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  assert.equal(await folded(), before);
  await page.getByRole('link', { name: 'What this means' }).first().click();
  await page.locator('article .prose').waitFor();
  assert.deepEqual(requests.filter((url) => !url.startsWith('file:')), []);
  assert.ok((await page.pdf()).length > 10_000);

  const many = join(folder, 'many.html');
  spawnSync(program, ['diagnose', '-q', '--html', many, folder]);
  await page.goto(`file://${many}`);
  await page.getByRole('link', { name: /bold/ }).click();
  await page.locator('.chart canvas').first().waitFor();
  assert.equal(await page.evaluate(() => window.hit), undefined);
  await page.close();
});

test('the metrics are what Prometheus reads', async (t) => {
  const text = await (await fetch(`${stage.address}metrics`)).text();
  assert.match(text, /^osler_run_status\{id="[0-9a-f]{16}",run="logs\/sick\.csv",status="critical"\} 1$/m);
  if (spawnSync('promtool', ['--version']).error) return t.skip('promtool is not installed (Debian package prometheus)');
  assert.equal(execFileSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' }), '');
});

test('no page complained', () => assert.deepEqual(stage.complaints, []));

test('pictures of every page', { skip: !pictures }, async () => {
  for (const colorScheme of ['light', 'dark']) {
    for (const [shape, viewport] of [['wide', { width: 1440, height: 1000 }], ['narrow', { width: 390, height: 844 }]]) {
      const page = await open('', { colorScheme, viewport });
      const shoot = async (name) => {
        await page.waitForTimeout(1200);
        await page.screenshot({ path: join(pictures, `${name}-${colorScheme}-${shape}.png`), fullPage: true });
      };
      const back = () => page.goto(`${stage.address}#/`);
      await page.locator('.rows .badge.critical').first().waitFor();
      await shoot('runs');
      await openRun(page, 'logs/sick.csv');
      await page.locator('.finding .face').first().click();
      await page.locator('.chart.marked').first().waitFor();
      await shoot('run');
      await back();
      await openRun(page, /^lab$/);
      await shoot('lab');
      await back();
      await openRun(page, 'depth.csv');
      await shoot('layers');
      await back();
      await page.getByLabel('Choose logs/healthy.csv to compare').check();
      await page.getByLabel('Choose logs/sick.csv to compare').check();
      await page.getByRole('link', { name: 'Compare 2 runs' }).click();
      await page.locator('.chart canvas').first().waitFor();
      await shoot('compare');
      await page.goto(`${stage.address}#/tree`);
      await page.locator('.plane .leaf-box').nth(5).click();
      await shoot('tree');
      await page.goto(`${stage.address}#/catalogue`);
      await page.locator('.catalogue nav a').nth(4).click();
      await page.locator('article .prose').waitFor();
      await shoot('catalogue');
      await page.goto(`${stage.address}#/playground`);
      await page.getByRole('heading', { name: 'Playground' }).waitFor();
      await shoot('playground');
      await page.close();
    }
  }
});
