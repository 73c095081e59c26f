// The dashboard: which page the address names, and the frame around it.
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { CataloguePage } from './catalogue';
import { ComparePage } from './compare';
import { LearnPage } from './learn';
import { PlaygroundPage } from './playground';
import { useRoute } from './route';
import { RunPage } from './run';
import { RunsPage } from './runs';
import { follow, useRuns } from './store';
import './style.css';
import { TreePage } from './tree';

const kPages = [
  ['', 'Runs'],
  ['compare', 'Compare'],
  ['catalogue', 'Catalogue'],
  ['tree', 'Tree'],
  ['playground', 'Playground'],
  ['learn', 'Learn'],
] as const;

function Page({ page, rest, more }: { page: string; rest: string; more: string }) {
  switch (page) {
    case 'run':
      return <RunPage key={rest} id={rest} />;
    case 'compare':
      return <ComparePage key={rest} ids={rest.split(',').filter(Boolean)} choosing={more === 'choose'} />;
    case 'catalogue':
      return <CataloguePage id={rest} />;
    case 'tree':
      return <TreePage run={rest} />;
    case 'playground':
      return <PlaygroundPage />;
    case 'learn':
      return <LearnPage number={Number(rest) || 1} />;
    default:
      return <RunsPage />;
  }
}

function App() {
  const [page = '', rest = '', more = ''] = useRoute();
  const { connected } = useRuns();
  useEffect(() => {
    if (page !== 'run') document.title = `${kPages.find(([name]) => name === page)?.[1] ?? 'Osler'} · Osler`;
  }, [page]);
  return (
    <>
      <header class="frame">
        <a class="mark" href="#/">Osler</a>
        <nav aria-label="Pages">
          {kPages.map(([name, title]) => (
            <a key={name} href={`#/${name}`} aria-current={page === name || (page === 'run' && name === '') ? 'page' : undefined}>{title}</a>
          ))}
        </nav>
        <span class={`live ${connected ? 'on' : ''}`} role="status">{connected ? 'Live' : 'Not connected'}</span>
      </header>
      <Page page={page} rest={rest} more={more} />
    </>
  );
}

follow();
render(<App />, document.getElementById('app')!);
