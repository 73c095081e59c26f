// Diagnosis: findings, causes with their odds, remedies, and what was not checked.
import { useState } from 'preact/hooks';
import type { Cause, Finding, Reason, Report, RunDetail } from './api';
import { PageLink, Way } from './tree';
import { Badge, number, percent, step } from './words';

type Titles = Map<string, string>;

const kCausesShown = 4;

function Copy({ text }: { text: string }) {
  const [done, setDone] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        setDone(true);
        setTimeout(() => setDone(false), 1500);
      },
      () => setDone(false),
    );
  return <button class="copy" onClick={copy} aria-label={`Copy: ${text}`}>{done ? 'Copied' : 'Copy'}</button>;
}

function FindingCard({ finding, titles, chosen, onChoose }: { finding: Finding; titles: Titles; chosen: boolean; onChoose: () => void }) {
  return (
    <li class={`finding ${finding.severity} ${chosen ? 'chosen' : ''}`}>
      <button class="face" aria-pressed={chosen} onClick={onChoose}>
        <span class="line"><Badge status={finding.severity} /><span class="quiet">steps {step(finding.first_step)} to {step(finding.last_step)} · {percent(finding.confidence)} sure</span></span>
        <b>{titles.get(finding.id) ?? finding.id}</b>
        <bdi>{finding.summary}</bdi>
      </button>
      {/* Hidden until it is chosen, but always on paper. */}
      <div class="facts">
        <ul>{finding.evidence.map((fact) => <li><bdi>{fact.text}</bdi>{fact.threshold !== null && <span class="quiet"> ({number(fact.observed)} against {number(fact.threshold)})</span>}</li>)}</ul>
        <a href={`#/catalogue/${finding.id}`}>What this means</a>
      </div>
    </li>
  );
}

function Reasons({ title, reasons, sign }: { title: string; reasons: Reason[]; sign: string }) {
  if (reasons.length === 0) return null;
  return (
    <div class="reasons">
      <h4>{title}</h4>
      <ul>{reasons.map((reason) => <li><span class="weight" title="how much it moves the log-odds">{sign}{reason.weight.toFixed(1)}</span><bdi>{reason.text}</bdi></li>)}</ul>
    </div>
  );
}

function CauseCard({ cause, titles, open }: { cause: Cause; titles: Titles; open: boolean }) {
  return (
    <details class="cause" open={open}>
      <summary>
        <span class="odds">{percent(cause.probability)}</span>
        <span class="name">{titles.get(cause.id) ?? cause.id}</span>
        <meter min={0} max={1} value={cause.probability} aria-label="probability" />
      </summary>
      {cause.remedies.length > 0 && (
        <div class="remedies">
          <h4>What to change</h4>
          <ul>
            {cause.remedies.map(({ text, code }) => (
              <li>
                <bdi>{text}</bdi>
                {code ? <span class="change"><code>{code.text}</code><span class="quiet small">{code.language}</span><Copy text={code.text} /></span> : <Copy text={text} />}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Reasons title="For" reasons={cause.for} sign="+" />
      <Reasons title="Against" reasons={cause.against} sign="−" />
      {cause.settle.text && <div class="settle"><h4>What would settle it</h4><p>{cause.settle.text}</p></div>}
      <a href={`#/catalogue/${cause.id}`}>Read more on this cause</a>
    </details>
  );
}

export function Diagnosis({ report, run, titles, chosen, onChoose }: { report: Report; run: RunDetail; titles: Titles; chosen: number | null; onChoose: (at: number | null) => void }) {
  const name = (id: string) => <PageLink id={id} titles={titles} />;
  return (
    <>
      <section aria-labelledby="findings">
        <h2 id="findings">Findings <span class="count">{report.findings.length}</span></h2>
        {report.findings.length === 0 && <p class="quiet">Nothing was found in {report.checks.ran.length} checks.</p>}
        {report.prognosis && <p>{report.prognosis.text}</p>}
        {report.findings.length > 0 && <p class="quiet small hint">Choose one to mark its evidence in the charts.</p>}
        <ul class="plain">
          {report.findings.map((finding, at) => (
            <FindingCard key={finding.id} finding={finding} titles={titles} chosen={chosen === at} onChoose={() => onChoose(chosen === at ? null : at)} />
          ))}
        </ul>
      </section>
      {report.causes.length > 0 && (
        <section aria-labelledby="causes">
          <h2 id="causes">Causes <span class="count">{report.causes.length}</span></h2>
          <p class="quiet small">Each is judged by itself, so that several may hold at once.</p>
          {report.causes.slice(0, kCausesShown).map((cause, at) => <CauseCard key={cause.id} cause={cause} titles={titles} open={at === 0} />)}
          {report.causes.length > kCausesShown && (
            <details class="less">
              <summary>Less likely <span class="count">{report.causes.length - kCausesShown}</span></summary>
              {report.causes.slice(kCausesShown).map((cause) => <CauseCard key={cause.id} cause={cause} titles={titles} open={false} />)}
            </details>
          )}
        </section>
      )}
      <section class="record" aria-label="The record">
        {report.ruled_out.length > 0 && (
          <details class="ruled-out">
            <summary>Ruled out <span class="count">{report.ruled_out.length}</span></summary>
            <ul class="links">{report.ruled_out.map((cause) => <li>{name(cause.id)}: <span class="quiet">{cause.why}</span></li>)}</ul>
          </details>
        )}
        <details>
          <summary>Not checked <span class="count">{report.checks.not_run.length}</span></summary>
          <ul class="links">{report.checks.not_run.map((check) => <li>{name(check.id)}: <span class="quiet">{check.reason}</span></li>)}</ul>
        </details>
        <details>
          <summary>Checked <span class="count">{report.checks.ran.length}</span></summary>
          <ul class="links">{report.checks.ran.map((id) => <li>{name(id)}</li>)}</ul>
        </details>
        <details>
          <summary>The way through the tree</summary>
          <Way run={run.id} way={run.way} titles={titles} />
        </details>
      </section>
    </>
  );
}
