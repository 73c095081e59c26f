// Measures the dashboard on huge runs: node e2e/scale.mjs [FOLDER]. Prints how soon the first chart stands after the click,
// the frames while it is moved and zoomed, whether every planted spike is seen, what the server holds in memory, and how
// soon a folder of 5,000 runs is listed.
import { execFileSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser, patience, program, raise, writeMany } from './stage.mjs';

const kPoints = 10_000_000;
const kSeries = 10_000;
const kRuns = 5_000;
const kSpikes = [1_234_567, 5_000_001, 9_876_543];
const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'osler-scale-'));

/** Writes a table row by row and turns it into a run file. */
async function make(name, rows) {
  const target = join(folder, 'runs', `${name}.osler`);
  if (existsSync(target)) return;
  const table = join(folder, `${name}.csv`);
  const out = createWriteStream(table);
  for (const text of rows()) if (!out.write(text)) await new Promise((go) => out.once('drain', go));
  await new Promise((done) => out.end(done));
  execFileSync(program, ['convert', '--format', 'csv', table, '-o', target], { stdio: 'inherit' });
}

function* longRows() {
  yield 'step,train_loss\n';
  for (let start = 0; start < kPoints; start += 10_000) {
    let text = '';
    for (let i = start; i < start + 10_000; ++i) text += `${i},${kSpikes.includes(i) ? 777 : (2 / (1 + i / 1e6) + ((i * 7919) % 1000) / 1e4).toFixed(4)}\n`;
    yield text;
  }
}

function* wideRows() {
  yield ['step', 'train_loss', ...Array.from({ length: kSeries - 1 }, (_, i) => `grad_norm/layers.${i}.weight`)].join(',') + '\n';
  for (let i = 0; i < 500; ++i) yield [i * 10, (2 * Math.exp(-i / 200)).toFixed(4), ...Array.from({ length: kSeries - 1 }, (_, k) => ((i * 31 + k * 17) % 997) / 997)].join(',') + '\n';
}

const kTraced = ['toplevel', 'devtools.timeline'];
const words = (numbers) => numbers.map((n) => n.toFixed(0)).join(', ');
const memory = (key, pid) => Math.round(Number(new RegExp(`${key}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024);
const share = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(1);

/** The processor time that the main thread took for each piece of work, from the browser's own trace. */
function tasks(trace) {
  const events = JSON.parse(trace).traceEvents;
  const main = new Set(events.filter((e) => e.name === 'thread_name' && e.args?.name === 'CrRendererMain').map((e) => `${e.pid} ${e.tid}`));
  return events.filter((e) => e.ph === 'X' && /RunTask$/.test(e.name) && main.has(`${e.pid} ${e.tid}`)).map((e) => (e.tdur ?? e.dur) / 1000).sort((a, b) => a - b);
}

mkdirSync(join(folder, 'runs'), { recursive: true });
await make('long', longRows);
await make('wide', wideRows);
const stage = await raise([join(folder, 'runs')]);
for (;;) {
  const { runs } = await (await fetch(`${stage.address}api/runs`)).json();
  if (runs.length === 2 && runs.every((run) => run.status !== 'unexamined')) break;
  await new Promise((go) => setTimeout(go, 200));
}
console.log(`after examining both: ${memory('VmRSS', stage.server.pid)} MB resident, ${memory('VmHWM', stage.server.pid)} MB at most`);

for (const name of ['long.osler', 'wide.osler']) {
  const page = await stage.open('', { viewport: { width: 1440, height: 1000 } });
  await page.getByRole('link', { name }).waitFor();
  const times = [];
  const work = [];
  for (let round = 0; round < 5; ++round) {
    await stage.browser.startTracing(page, { categories: kTraced });
    times.push(
      await page.evaluate(
        (wanted) =>
          new Promise((done) => {
            const start = performance.now();
            const look = () => (document.querySelector('.chart canvas') ? done(performance.now() - start) : requestAnimationFrame(look));
            [...document.querySelectorAll('a.name')].find((link) => link.textContent === wanted).click();
            requestAnimationFrame(look);
          }),
        name,
      ),
    );
    work.push(tasks(await stage.browser.stopTracing()).reduce((a, b) => a + b, 0));
    await page.goto(`${stage.address}#/`);
    await page.getByRole('link', { name }).waitFor();
  }
  console.log(`${name}: first chart after ${words(times)} ms, of which the page itself worked ${words(work)} ms`);

  await page.getByRole('link', { name }).click();
  await page.locator('.chart canvas').first().waitFor({ timeout: patience });
  const box = await page.locator('.chart .u-over').first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  await page.waitForTimeout(500);
  await stage.browser.startTracing(page, { categories: kTraced });
  await page.evaluate(() => {
    window.frames_ = [];
    let last = performance.now();
    const note = (now) => {
      window.frames_.push(now - last);
      last = now;
      window.frameNote = requestAnimationFrame(note);
    };
    requestAnimationFrame(note);
  });
  await page.keyboard.down('Control');
  for (let i = 0; i < 40; ++i) await page.mouse.wheel(0, -40);
  await page.keyboard.up('Control');
  await page.keyboard.down('Shift');
  await page.mouse.down();
  for (let i = 0; i < 60; ++i) await page.mouse.move(box.x + box.width / 2 - i * 4, box.y + 60);
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const frames = (await page.evaluate(() => (cancelAnimationFrame(window.frameNote), window.frames_))).sort((a, b) => a - b);
  const busy = tasks(await stage.browser.stopTracing());
  console.log(`${name}: ${frames.length} frames while zooming and moving, ms between them: median ${share(frames, 0.5)}, 95 % ${share(frames, 0.95)}, longest ${share(frames, 1)}; longest tasks by processor time ${busy.slice(-3).map((t) => t.toFixed(1)).join(', ')} ms, ${busy.filter((t) => t > 16.7).length} of ${busy.length} above 16.7 ms`);
  await page.close();
}

const { runs } = await (await fetch(`${stage.address}api/runs`)).json();
const long = runs.find((run) => run.name === 'long.osler');
let seen = 0;
let asked = 0;
for (const spike of kSpikes) {
  for (let width = kPoints; width >= 10; width /= 4) {
    const from = Math.max(0, Math.round(spike - width / 3));
    const columns = await (await fetch(`${stage.address}api/runs/${long.id}/series?name=train_loss&points=1000&from=${from}&to=${Math.round(from + width)}`)).json();
    ++asked;
    if (Math.max(...(columns.max ?? columns.mean)) === 777) ++seen;
  }
}
console.log(`spikes: ${seen} of ${asked} windows show theirs`);
console.log(`at the end: ${memory('VmRSS', stage.server.pid)} MB resident, ${memory('VmHWM', stage.server.pid)} MB at most`);
await stage.fall(join(folder, 'nothing'));

const many = join(folder, 'logs');
if (!existsSync(join(many, `run-${kRuns - 1}.csv`))) writeMany(many, kRuns, 1234);
const viewer = await launchBrowser();
const wide = { viewport: { width: 1440, height: 1000 } };

/** Opens the list and says how long it took to stand, from the address to all runs counted and the first row drawn. */
async function list(address) {
  const page = await viewer.browser.newPage(wide);
  page.setDefaultTimeout(patience);
  const begin = performance.now();
  await page.goto(address, { waitUntil: 'commit' });
  await page.waitForFunction((count) => document.querySelector('.filters')?.textContent.includes(`All ${count}`) && document.querySelector('.rows .row'), kRuns);
  return { page, took: performance.now() - begin };
}

const started = performance.now();
const second = await raise([many], { browser: false });
const cold = await list(second.address);
console.log(`${kRuns} runs: the list of a server just started stands in the browser ${(performance.now() - started).toFixed(0)} ms after the start of the server`);
await cold.page.evaluate(() => {
  window.frames_ = [];
  let last = performance.now();
  const note = (now) => (window.frames_.push(now - last), (last = now), requestAnimationFrame(note));
  requestAnimationFrame(note);
});
await cold.page.getByRole('button', { name: /^Waiting/ }).waitFor({ state: 'detached' });
const filling = (await cold.page.evaluate(() => window.frames_)).sort((a, b) => a - b);
console.log(`${kRuns} runs: all examined and shown ${((performance.now() - started) / 1000).toFixed(1)} s after the start, ${memory('VmRSS', second.server.pid)} MB resident, ${memory('VmHWM', second.server.pid)} MB at most; ms between frames meanwhile: median ${share(filling, 0.5)}, 99 % ${share(filling, 0.99)}, longest ${share(filling, 1)}`);
await cold.page.close();
const shown = [];
for (let round = 0; round < 10; ++round) {
  const { page, took } = await list(second.address);
  shown.push(took);
  await page.close();
}
console.log(`${kRuns} runs: the list stands ${words(shown)} ms after the address was entered (load ${loadavg()[0].toFixed(1)})`);
await viewer.close();
await second.fall(process.argv[2] ? join(folder, 'nothing') : folder);
