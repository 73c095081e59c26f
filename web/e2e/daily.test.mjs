// What people do every day: copy a remedy, read a value off a chart, send a link, take a chart away, sort by a setting.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openRun, raise } from './stage.mjs';

let folder, stage, open;

/** A falling loss, NaN from `breaks` on. */
function falling(steps, breaks = Infinity) {
  const rows = Array.from({ length: steps }, (_, i) => `${i * 5},${i < breaks ? (0.3 + 2 * Math.exp(-i / 60) + 0.02 * Math.sin(i * 7.3)).toFixed(5) : 'nan'}`);
  return `step,loss\n${rows.join('\n')}\n`;
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'osler-daily-'));
  mkdirSync(join(folder, 'put-away'));
  writeFileSync(join(folder, 'put-away', 'old.csv'), falling(100));
  const machine = Array.from({ length: 300 }, (_, i) => `${i * 5},${(0.3 + 2 * Math.exp(-i / 60)).toFixed(5)},${(1e-3 * (1 - i / 300)).toExponential(4)},${70 + (i % 9)},${(11 + i / 900).toFixed(3)},${900 + (i % 50)}`);
  writeFileSync(join(folder, 'machine.csv'), `step,loss,lr,gpu_utilization,gpu_memory_gb,tokens_per_second\n${machine.join('\n')}\n`);
  for (const [name, lr] of [['a', '0.1'], ['b', '0.01'], ['c', '0.001']]) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'metrics.csv'), falling(400));
    writeFileSync(join(folder, name, 'hparams.yaml'), `lr: ${lr}\nmodel: net-${name}\n`);
  }
  for (const width of [64, 128]) {
    for (const seed of [1, 2, 3]) {
      const name = join(folder, 'sweep', `w${width}-s${seed}`);
      mkdirSync(name, { recursive: true });
      const rows = Array.from({ length: 200 }, (_, i) => `${i * 5},${(0.2 + 16 / width + 2 * Math.exp(-i / 40) + 0.03 * seed + 0.01 * Math.sin(i * seed)).toFixed(5)}`);
      writeFileSync(join(name, 'metrics.csv'), `step,loss\n${rows.join('\n')}\n`);
      writeFileSync(join(name, 'hparams.yaml'), `width: ${width}\nseed: ${seed}\n`);
    }
  }
  writeFileSync(join(folder, 'nan.csv'), falling(400, 200));
  writeFileSync(join(folder, 'begun.csv'), falling(50));
  writeFileSync(join(folder, 'table.csv'), '1,2\n3,4\n');
  stage = await raise([folder, '--archive', 'put-away']);
  open = stage.open;
});

after(() => stage?.fall(folder));

test('a remedy is copied as code of a framework or as a sentence, never as a knob of the gallery', async () => {
  const page = await open();
  await page.locator('.rows .row', { hasText: 'nan.csv' }).locator('.badge.critical').waitFor();
  await openRun(page, 'nan.csv');
  for (const cause of await page.locator('.cause:not([open]) > summary').all()) if (await cause.isVisible()) await cause.click();
  const labels = await page.locator('.copy').evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label')));
  assert.ok(labels.length > 2);
  for (const label of labels) assert.doesNotMatch(label, /^Copy: [a-z_]+ = [\w-]+$/);
  assert.ok(labels.some((label) => /torch\./.test(label)), labels.join('\n'));
  assert.doesNotMatch(await page.locator('.diagnosis').innerText(), /guarded_math|skip_nonfinite/);
  await page.close();
});

test('the cursor shows the step; without one the values are said to be the newest', async () => {
  const page = await open();
  await openRun(page, 'nan.csv');
  await page.locator('.legend .where', { hasText: 'newest' }).first().waitFor();
  const box = await page.locator('.chart .u-over').first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 40);
  await page.locator('.legend .where', { hasText: /step \d(,\d{3})?/ }).first().waitFor();
  await page.close();
});

test('a link keeps zoom, smoothing and the chosen finding', async () => {
  const page = await open();
  await openRun(page, 'nan.csv');
  await page.locator('.finding .face').first().click();
  await page.locator('.chart.marked').first().waitFor();
  await page.getByRole('slider').fill('3');
  const box = await page.locator('.chart .u-over').first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 50, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(() => /from=.*to=/.test(location.hash) && /smoothing=0.02/.test(location.hash) && /finding=/.test(location.hash));
  const shown = await page.locator('.zoom').innerText();
  const address = page.url();
  const again = await open(address.slice(stage.address.length));
  await again.locator('.chart.marked').first().waitFor();
  await again.locator('.zoom', { hasText: shown.replace(/\s*Show all/, '') }).waitFor();
  assert.equal(await again.getByRole('slider').inputValue(), '3');
  await again.close();
  await page.close();
});

test('a chart is taken away as PNG, SVG and CSV', async () => {
  const page = await open();
  await openRun(page, 'nan.csv');
  const saved = {};
  for (const kind of ['png', 'svg', 'csv']) {
    const download = page.waitForEvent('download');
    await page.locator('.chart').first().getByRole('button', { name: kind, exact: true }).click();
    await (await download).saveAs(join(folder, `saved.${kind}`));
    saved[kind] = readFileSync(join(folder, `saved.${kind}`));
  }
  assert.deepEqual([...saved.png.subarray(1, 4)], [...Buffer.from('PNG')]);
  assert.match(String(saved.svg), /^<svg [\s\S]*<path d="M[\s\S]*loss[\s\S]*<\/svg>/);
  assert.match(String(saved.csv), /^series,first_step,last_step,points,min,mean,max,nonfinite\nloss,0,0,1,2\.3/);
  await page.close();
});

test('runs are sorted and found by their configuration, and what is left out is said', async () => {
  const page = await open();
  await page.locator('.rows .row', { hasText: 'nan.csv' }).locator('.badge.critical').waitFor();
  await page.locator('.columns summary', { hasText: 'Columns' }).click();
  await page.getByRole('checkbox', { name: /^lr/ }).check();
  await page.locator('.columns summary', { hasText: 'Columns' }).click();
  await page.getByRole('columnheader', { name: 'lr' }).getByRole('button').click();
  await page.waitForFunction(() => document.querySelector('.rows .row .extra')?.textContent === '0.001');
  await page.getByRole('searchbox').fill('lr>=0.01');
  await page.waitForFunction(() => document.querySelectorAll('.rows .row').length === 2);
  await page.getByRole('searchbox').fill('model=net-c');
  await page.waitForFunction(() => document.querySelectorAll('.rows .row').length === 1);
  await page.getByRole('searchbox').fill('');
  await page.locator('.left-out summary').click();
  await page.locator('.left-out', { hasText: 'table.csv' }).waitFor();
  await page.close();
});

test('a run can be hidden in this browser and brought back', async () => {
  const page = await open();
  const row = page.locator('.rows .row', { hasText: 'nan.csv' });
  await row.locator('.badge.critical').waitFor();
  await page.getByLabel('Choose nan.csv to compare').check();
  await page.getByRole('button', { name: 'Hide', exact: true }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Hidden 1' }).click();
  await page.getByLabel('Choose nan.csv to compare').check();
  await page.getByRole('button', { name: 'Show again' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Hidden 0' }).click();
  await row.waitFor();
  await page.close();
});

test('a run that is archived is listed apart', async () => {
  const page = await open();
  const row = page.locator('.rows .row', { hasText: 'old.csv' });
  await page.getByRole('button', { name: 'Archived 1' }).click();
  await row.waitFor();
  assert.match(page.url(), /show=archived/);
  await page.getByRole('button', { name: 'Archived 1' }).click();
  await row.waitFor({ state: 'detached' });
  await page.close();
});

test('a link keeps how the list is sorted and filtered, and its columns', async () => {
  const page = await open();
  await page.locator('.columns summary', { hasText: 'Columns' }).click();
  await page.getByRole('checkbox', { name: /^lr/ }).check();
  await page.locator('.columns summary', { hasText: 'Columns' }).click();
  const header = page.getByRole('columnheader', { name: 'lr' }).getByRole('button');
  await header.click();
  await header.click();
  await page.getByRole('button', { name: /^Healthy/ }).click();
  await page.waitForFunction(() => /only=healthy/.test(location.hash) && /sort=lr/.test(location.hash) && /reversed=1/.test(location.hash) && /column=lr/.test(location.hash));
  const other = await open(page.url().slice(stage.address.length));
  await other.locator('[role=columnheader][aria-sort=descending]', { hasText: 'lr' }).waitFor();
  assert.equal(await other.getByRole('button', { name: /^Healthy/ }).getAttribute('aria-pressed'), 'true');
  await other.close();
  await page.close();
});

test('what the machine did has charts of its own', async () => {
  const page = await open();
  await openRun(page, 'machine.csv');
  for (const title of ['GPU use', 'GPU memory', 'Speed']) await page.locator('.chart h3', { hasText: title }).waitFor();
  await page.close();
});

test('the lines of a chart are chosen, others drawn over them, and a chart pinned; a link keeps it', async () => {
  const page = await open();
  await openRun(page, 'machine.csv');
  const loss = page.locator('.chart', { has: page.locator('h3', { hasText: /^Loss$/ }) });
  await loss.locator('.lines summary').click();
  await loss.getByRole('checkbox', { name: 'lr' }).check();
  await loss.locator('.legend', { hasText: 'lr (right)' }).waitFor();
  await loss.getByRole('checkbox', { name: 'loss' }).uncheck();
  await page.waitForFunction(() => !document.querySelector('.chart .legend').textContent.includes('loss'));
  await loss.getByRole('checkbox', { name: 'loss' }).check();
  await loss.locator('.lines summary').click();
  await page.locator('.chart', { has: page.locator('h3', { hasText: 'Speed' }) }).getByRole('button', { name: 'pin' }).click();
  await page.waitForFunction(() => document.querySelector('.chart h3').textContent === 'Speed');
  const again = await open(page.url().slice(stage.address.length));
  await again.locator('.legend', { hasText: 'lr (right)' }).waitFor();
  await again.waitForFunction(() => document.querySelector('.chart h3')?.textContent === 'Speed');
  const download = again.waitForEvent('download');
  await again.locator('.chart', { has: again.locator('h3', { hasText: /^Loss$/ }) }).getByRole('button', { name: 'svg', exact: true }).click();
  await (await download).saveAs(join(folder, 'over.svg'));
  assert.match(readFileSync(join(folder, 'over.svg'), 'utf8'), /text-anchor="start" class="tick"/, 'the drawing has the axis on the right too');
  await again.close();
  await page.close();
});

test('runs are added to a comparison, and series to its charts', async () => {
  const page = await open('#/compare');
  await page.getByLabel('Search runs').fill('lr<=0.01');
  await page.waitForFunction(() => document.querySelectorAll('.pick label').length === 2);
  for (const run of await page.locator('.pick input').all()) await run.check();
  await page.getByLabel('Search runs').fill('');
  await page.getByRole('link', { name: 'Compare 2 runs' }).click();
  await page.locator('.against').first().waitFor();
  await page.getByRole('link', { name: 'Add or remove runs' }).click();
  // What was chosen stands first.
  await page.waitForFunction(() => [...document.querySelectorAll('.pick input')].slice(0, 2).filter((input) => input.checked).length === 2);
  await page.locator('.pick label', { hasText: 'machine.csv' }).click();
  await page.getByRole('link', { name: 'Compare 3 runs' }).click();
  await page.locator('.against').nth(1).waitFor();
  await page.locator('.picker summary').click();
  await page.locator('.picker button', { hasText: 'gpu_memory_gb' }).click();
  await page.locator('.chart h3', { hasText: 'gpu_memory_gb' }).waitFor();
  await page.close();
});

test('tags and a note are kept in this browser, and runs are found by them', async () => {
  const page = await open();
  await page.locator('.rows .row', { hasText: 'nan.csv' }).locator('.badge.critical').waitFor();
  await openRun(page, 'nan.csv');
  await page.locator('.own summary').click();
  await page.getByLabel('Tags').fill('broken <b>paper');
  await page.getByLabel('Note').fill('the one from Friday');
  await page.goto(`${stage.address}#/`);
  await page.getByRole('searchbox').fill('friday');
  await page.waitForFunction(() => document.querySelectorAll('.rows .row').length === 1);
  assert.match(await page.locator('.rows .row').innerText(), /nan\.csv[\s\S]*broken[\s\S]*<b>paper/);
  await page.close();
});

test('compare without a choice offers one, and a run that turned NaN is never the same', async () => {
  const page = await open('#/compare');
  await page.locator('.pick label', { hasText: /step 1,995/ }).first().click();
  await page.locator('.pick label', { hasText: 'nan.csv' }).click();
  await page.getByRole('link', { name: 'Compare 2 runs' }).click();
  await page.locator('.standing.worse').waitFor();
  assert.match(await page.locator('.standing').innerText(), /Worse: turned NaN/);
  assert.match(await page.locator('.against').innerText(), /not finite after step 995/);
  await page.close();
});

test('a run that is still young is the same so far, not the same', async () => {
  const page = await open('#/compare');
  await page.locator('.pick label', { hasText: /step 1,995/ }).first().click();
  await page.locator('.pick label', { hasText: 'begun.csv' }).click();
  await page.getByRole('link', { name: 'Compare 2 runs' }).click();
  await page.locator('.standing.same').waitFor();
  assert.equal(await page.locator('.standing').innerText(), 'The same so far');
  await page.close();
});

test('seeds of a setting are taken together: a row for each group, and their mean with a band', async () => {
  const page = await open();
  await page.locator('summary', { hasText: 'Group' }).click();
  await page.getByLabel('the same but for the seed').check();
  const group = page.locator('.row.group', { hasText: 'width=64' });
  await group.waitFor();
  assert.match(await group.innerText(), /3 runs/);
  assert.match(await group.innerText(), /±/);
  assert.match(page.url(), /group=seed/);
  await page.getByLabel('Choose the runs of width=64').check();
  await page.getByLabel('Choose the runs of width=128').check();
  await page.getByRole('link', { name: 'Compare 6 runs' }).click();
  await page.getByLabel('Group').selectOption('seed');
  await page.locator('.sides.groups tbody tr').nth(1).waitFor();
  assert.equal(await page.locator('.sides.groups tbody tr').count(), 2);
  await page.locator('.chart canvas').first().waitFor();
  const legend = await page.locator('.chart .legend').first().innerText();
  assert.match(legend, /width=64 \(3\)/);
  assert.match(legend, /width=128 \(3\)/);
  assert.match(legend, /…/, 'the band goes from the lowest to the highest seed');
  await page.close();
});

test('on a phone nothing is cut off, the charts come soon, and a finger zooms', async () => {
  const page = await open('', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const cut = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await page.locator('.rows .row', { hasText: 'nan.csv' }).locator('.badge.critical').waitFor();
  assert.ok((await cut()) <= 0, 'the list');
  await openRun(page, 'nan.csv');
  const chart = page.locator('.chart .u-over').first();
  await chart.waitFor();
  assert.ok((await cut()) <= 0, 'a run');
  const top = await chart.evaluate((over) => over.getBoundingClientRect().top + scrollY);
  assert.ok(top < 1.2 * 844, `the first chart begins at ${top}, behind the verdict and the findings`);
  assert.ok(await page.locator('.with-fingers').first().isVisible());
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox();
  const touches = await page.context().newCDPSession(page);
  const touch = (type, share) => touches.send('Input.dispatchTouchEvent', { type, touchPoints: share === null ? [] : [{ x: box.x + share * box.width, y: box.y + box.height / 2 }] });
  await touch('touchStart', 0.25);
  for (let share = 0.3; share <= 0.5; share += 0.05) await touch('touchMove', share);
  await touch('touchEnd', null);
  await page.waitForFunction(() => /from=.*to=/.test(location.hash));
  const ids = await page.evaluate(async () => (await (await fetch('api/runs')).json()).runs.filter((run) => /^(nan|begun)[.]csv$/.test(run.name)).map((run) => run.id));
  await page.goto(`${stage.address}#/compare/${ids.join(',')}`);
  await page.locator('.sides td').first().waitFor();
  assert.ok((await cut()) <= 0, 'a comparison');
  const table = await page.locator('.sides').first().evaluate((all) => [all.scrollWidth, all.parentElement.clientWidth]);
  assert.ok(table[0] <= table[1], 'every column of it can be seen');
  await page.close();
});

test('no page complained', () => assert.deepEqual(stage.complaints, []));
