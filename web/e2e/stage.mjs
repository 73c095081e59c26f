// What the tests play on: a folder of runs, osler serve on it, and a browser that reports every complaint of a page.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, '../..');
export const program = process.env.OSLER_PROGRAM ?? join(source, 'build/osler');
const cases = process.env.OSLER_CASES ?? join(source, 'build/dev/tests/cases');
/** How long anything may take to appear: far longer than it takes on a machine that is busy with other things. */
export const patience = 120_000;

/** Milliseconds by which an answer of the server is kept back at most, by chance: shows tests that count on an order. */
const slowest = Number(process.env.OSLER_SLOWEST_ANSWER ?? 0);

async function delayed(route) {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * slowest));
  await route.continue().catch(() => undefined); // the page may be closed meanwhile
}

/** A log whose loss becomes NaN, with a series whose name tries to be markup. */
export function hostileLog() {
  const rows = ['step,train_loss,<img src=x onerror=window.hit=1>'];
  for (let i = 0; i < 200; ++i) rows.push(`${i},${i < 150 ? 2 * Math.exp(-i / 60) + 0.01 * (i % 7) : 'nan'},${i % 5}`);
  return rows.join('\n') + '\n';
}

/** A log with quotes, a mark that turns what follows around, and a megabyte in the name of a series. */
function longNamedLog() {
  const name = `\u202e"'${'n'.repeat(1_000_000)}`;
  const rows = Array.from({ length: 200 }, (_, i) => ({ step: i, train_loss: 2 * Math.exp(-i / 60) + 0.01 * (i % 7), ...(i > 195 ? { [name]: i % 3 } : {}) }));
  return rows.map((row) => JSON.stringify(row)).join('\n') + '\n';
}

/** A run with epochs, an origin of its NaN and results of experiments, as a monitor and its probes leave them. */
function writeLab(folder) {
  mkdirSync(folder);
  const rates = Array.from({ length: 20 }, (_, i) => Number((1e-5 * 10 ** (i / 4)).toPrecision(3)));
  const losses = rates.map((_, i) => Number((i < 8 ? 2.3 : i < 15 ? 2.3 - 0.2 * (i - 8) : 0.9 * 2 ** (i - 14)).toPrecision(3)));
  const grid = [-1, 0, 1].flatMap((a) => [-1, 0, 1].map((b) => [a, b, 0.1 + 2 * a * a + b * b]));
  const experiments = [
    { probe: 'checkup', step: 0, outcome: 'failed', verdict: '1 of 2 points failed.', values: [], columns: [], checks: [{ id: 'first-loss', outcome: 'passed', text: '2.31, as expected of 10 classes' }, { id: 'overfit-one-batch', outcome: 'failed', text: '0.9 after 200 steps' }] },
    { probe: 'curvature', step: 90, outcome: 'failed', verdict: 'The largest eigenvalue is beyond 2 / lr.', values: [{ name: 'top-eigenvalue', value: 41.2, low: 39.8, high: 42.7 }], columns: [], checks: [] },
    { probe: 'loss-surface', step: 90, outcome: 'undecided', verdict: 'The valley is narrow.', values: [], columns: ['first', 'second', 'loss'].map((name, i) => ({ name, values: grid.map((row) => row[i]) })), checks: [] },
    { probe: 'lr-range-test', step: 0, outcome: 'passed', verdict: 'The loss falls most steeply at 0.01.', values: [{ name: 'suggested-learning-rate', value: 0.01 }], columns: [{ name: 'learning-rate', values: rates }, { name: 'loss', values: losses }], checks: [] },
  ];
  const settings = ['lr: 0.1', ...experiments.map((one) => `osler/experiment/${one.probe}: '${JSON.stringify(one)}'`)];
  writeFileSync(join(folder, 'hparams.yaml'), settings.join('\n') + '\n');
  const rows = ['epoch,step,train_loss,lr,osler/origin/log-of-zero'];
  for (let i = 0; i < 200; ++i) rows.push([i / 50, i, i < 150 ? (2 * Math.exp(-i / 60)).toFixed(5) : 'nan', 0.1, i === 150 ? 1 : ''].join(','));
  writeFileSync(join(folder, 'metrics.csv'), rows.join('\n') + '\n');
}

/** As many small logs as `count` in `folder`; that of `best` ends with the lowest loss of all. */
export function writeMany(folder, count, best) {
  mkdirSync(folder, { recursive: true });
  for (let run = 0; run < count; ++run) {
    const noise = (i) => ((i * 7919 + run) % 97) / 1000;
    const rows = Array.from({ length: 100 }, (_, i) => `${i},${(2 * Math.exp(-i / 30) + (run === best && i > 85 ? -1 : noise(i))).toFixed(4)}`);
    writeFileSync(join(folder, `run-${run}.csv`), `step,train_loss\n${rows.join('\n')}\n`);
  }
}

/** The folder of runs. */
export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'osler-e2e-'));
  cpSync(join(source, 'examples/logs'), join(folder, 'logs'), { recursive: true });
  cpSync(join(cases, 'vanishing-by-depth/sick-seven-decades.csv'), join(folder, 'depth.csv'));
  cpSync(join(source, 'tests/samples/tensorboard'), join(folder, 'board'), { recursive: true });
  writeFileSync(join(folder, '<b>bold<script>window.hit=1<!--.csv'), hostileLog());
  writeFileSync(join(folder, `"'\u202egpj.jsonl`), longNamedLog());
  writeLab(join(folder, 'lab'));
  execFileSync(program, ['convert', join(folder, 'logs/sick.csv'), '-o', join(folder, 'kept.osler')], { stdio: 'ignore' });
  return folder;
}

/**
 * A browser as urgent as this process. Playwright starts it as a session of its own, and a scheduler that weighs sessions
 * would else starve it beside the very builds that this test was given precedence over.
 */
export async function launchBrowser() {
  const server = await chromium.launchServer({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  try {
    const urgency = /nice (-?\d+)/.exec(readFileSync('/proc/self/autogroup', 'utf8'))[1];
    writeFileSync(`/proc/${server.process().pid}/autogroup`, urgency);
  } catch {
    // Not every system weighs sessions, or lets everybody say how.
  }
  const browser = await chromium.connect(server.wsEndpoint());
  return { browser, close: () => server.close() };
}

/** A running server and a browser; `complaints` gathers what any page says on its console. */
export async function raise(roots, { browser: wanted = true, port = 0 } = {}) {
  const server = spawn(program, ['serve', ...roots, '--port', String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`osler serve ended with ${code}`)));
    server.stdout.once('data', (text) => resolve(String(text).trim()));
  });
  const { browser, close } = wanted ? await launchBrowser() : { close: () => undefined };
  const complaints = [];
  const open = async (path = '', options = {}) => {
    const page = await browser.newPage(options);
    page.setDefaultTimeout(patience);
    page.on('console', (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`));
    if (slowest > 0) await page.route(/\/api\/(?!events)/, delayed);
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(/^(file|about):/.test(path) ? path : address + path);
    return page;
  };
  const fall = async (folder) => {
    await close();
    server.kill('SIGINT');
    rmSync(folder, { recursive: true, force: true });
  };
  return { address, server, browser, complaints, open, fall };
}

/** Opens a run from the list, as a person does. */
export async function openRun(page, name) {
  await page.getByRole('link', { name }).click();
  await page.getByRole('heading', { name: 'Findings' }).waitFor();
  // Every chart asks for its own numbers, and any of them may come last.
  await page.waitForFunction(() => {
    const plots = [...document.querySelectorAll('.chart .plot')];
    return plots.length > 0 && plots.every((plot) => plot.querySelector('canvas'));
  });
}
