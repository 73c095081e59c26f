// The HTML report: one run, or a list of several, with everything in the file itself.
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { setSource } from './api';
import { CataloguePage } from './catalogue';
import { type Inlined, inlinedSource } from './inlined';
import { useRoute } from './route';
import { RunPage } from './run';
import { Spark } from './spark';
import { follow, useRuns } from './store';
import './style.css';
import { Badge, moment, step } from './words';

const data = JSON.parse(document.getElementById('data')!.textContent!) as Inlined;
const kRank = ['critical', 'warning', 'insufficient-data', 'healthy'];

function Contents() {
  const { cards } = useRuns();
  const sorted = [...cards.values()].sort((a, b) => kRank.indexOf(a.status) - kRank.indexOf(b.status));
  const left = sorted.filter((card) => !(card.id in data.details)).length;
  return (
    <main class="contents">
      <h1>Runs <span class="count">{sorted.length}</span></h1>
      {left > 0 && <p class="quiet">{left} of the milder runs have no page in this file: it would have become too large.</p>}
      <ol class="plain">
        {sorted.map((card) => (
          <li key={card.id}>
            <Badge status={card.status} />
            <span class="title">
              {card.id in data.details ? <a href={`#/run/${card.id}`}><bdi>{card.name.slice(0, 200)}</bdi></a> : <bdi>{card.name.slice(0, 200)}</bdi>}
              <bdi class="quiet small">{card.headline}</bdi>
            </span>
            <span class="curve">{card.spark && <Spark spark={card.spark} />}</span>
            <span class="figure">{card.steps ? `step ${step(card.steps.last)}` : ''}</span>
          </li>
        ))}
      </ol>
    </main>
  );
}

function App() {
  const [page = '', id = ''] = useRoute();
  const only = data.runs.length === 1 ? data.runs[0]!.id : '';
  useEffect(() => {
    if (page !== 'run' && !only) document.title = 'Osler report';
  }, [page]);
  return (
    <>
      <header class="frame">
        <a class="mark" href="#/">Osler</a>
        <span class="quiet">Report</span>
        <span class="fill" />
        <span class="quiet small">{moment(data.made)} · osler {data.version}</span>
      </header>
      {page === 'catalogue' ? <CataloguePage id={id} /> : page === 'run' || only ? <RunPage key={id || only} id={id || only} /> : <Contents />}
    </>
  );
}

setSource(inlinedSource(data));
follow();
render(<App />, document.getElementById('app')!);
