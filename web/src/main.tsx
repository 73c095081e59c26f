// The dashboard: which page the address names, and the frame around it.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { CataloguePage } from './catalogue';
import { RunPage } from './run';
import { RunsPage } from './runs';
import { follow, useRuns } from './store';
import './style.css';
import { TreePage } from './tree';

const kPages = [
  ['', 'Runs'],
  ['catalogue', 'Catalogue'],
  ['tree', 'Tree'],
] as const;

function route(): string[] {
  return location.hash.replace(/^#\/?/, '').split('/');
}

function App() {
  const [[page = '', id = ''], setRoute] = useState(route());
  const { connected } = useRuns();
  useEffect(() => {
    const listener = () => {
      setRoute(route());
      scrollTo(0, 0);
    };
    addEventListener('hashchange', listener);
    return () => removeEventListener('hashchange', listener);
  }, []);
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
      {page === 'run' ? <RunPage key={id} id={id} /> : page === 'catalogue' ? <CataloguePage id={id} /> : page === 'tree' ? <TreePage /> : <RunsPage />}
    </>
  );
}

follow();
render(<App />, document.getElementById('app')!);
