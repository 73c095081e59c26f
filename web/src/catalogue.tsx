// Catalogue: every finding and every cause Osler knows, each with its page.
import { useMemo, useState } from 'preact/hooks';
import { type Catalogue, type CatalogueCause, type CatalogueFinding, getCatalogue } from './api';
import { useLoaded } from './loading';
import { Markdown } from './markdown';
import { number } from './words';

const kNeeds: Record<string, string> = {
  curve: 'scalars of any log',
  layer: 'statistics per parameter',
  act: 'statistics of activations',
  batch: 'the data',
  live: 'hooks in the training',
  probe: 'an active experiment',
};

function FindingPage({ finding, catalogue, ids }: { finding: CatalogueFinding; catalogue: Catalogue; ids: Set<string> }) {
  const causes = catalogue.causes.filter((cause) => cause.pulls?.some((pull) => pull.finding === finding.id && pull.if_found > 0));
  return (
    <article>
      <p class="kind">Finding · needs {finding.needs.map((need) => kNeeds[need] ?? need).join(' or ')}</p>
      <h1>{finding.title}</h1>
      <p class="id"><code>{finding.id}</code></p>
      <Markdown text={finding.doc ?? ''} ids={ids} />
      {causes.length > 0 && (
        <section>
          <h3>Speaks for</h3>
          <ul class="links">{causes.map((cause) => <li><a href={`#/catalogue/${cause.id}`}>{cause.title}</a></li>)}</ul>
        </section>
      )}
      {finding.settings.length > 0 && (
        <section>
          <h3>Settings</h3>
          <dl class="settings">
            {finding.settings.map((setting) => [<dt><code>{setting.name}</code> <b>{number(setting.value)}</b></dt>, <dd>{setting.reason}</dd>])}
          </dl>
        </section>
      )}
    </article>
  );
}

function CausePage({ cause, catalogue, ids }: { cause: CatalogueCause; catalogue: Catalogue; ids: Set<string> }) {
  const title = (id: string) => catalogue.findings.find((finding) => finding.id === id)?.title ?? id;
  const list = (name: string, pulls: CatalogueCause['pulls']) =>
    pulls.length > 0 && (
      <section>
        <h3>{name}</h3>
        <ul class="links">
          {pulls.map((pull) => <li><a href={`#/catalogue/${pull.finding}`}>{title(pull.finding)}</a>{pull.why && <span class="quiet"> {pull.why}</span>}</li>)}
        </ul>
      </section>
    );
  return (
    <article>
      <p class="kind">Cause</p>
      <h1>{cause.title}</h1>
      <p class="id"><code>{cause.id}</code></p>
      <Markdown text={cause.doc ?? ''} ids={ids} />
      {cause.settle && <section><h3>What settles it</h3><p>{cause.settle}</p></section>}
      {list('What speaks for it', cause.pulls.filter((pull) => pull.if_found > 0))}
      {list('What speaks against it', cause.pulls.filter((pull) => pull.if_found < 0))}
    </article>
  );
}

export function CataloguePage({ id }: { id: string }) {
  const { value: catalogue, error } = useLoaded(getCatalogue, 'catalogue');
  const [words, setWords] = useState('');
  const ids = useMemo(() => new Set(catalogue ? [...catalogue.findings, ...catalogue.causes].filter((page) => page.doc !== undefined).map((page) => page.id) : []), [catalogue]);
  if (error) return <main><p class="trouble">{error}</p></main>;
  if (!catalogue) return <main><p class="quiet">Loading …</p></main>;
  // A report holds the pages of what it speaks of; the others are known by their title alone.
  const full = { findings: catalogue.findings.filter((page) => page.doc !== undefined), causes: catalogue.causes.filter((page) => page.doc !== undefined) };
  const fits = (page: { id: string; title: string }) => `${page.id} ${page.title}`.toLowerCase().includes(words.toLowerCase());
  const list = (title: string, pages: { id: string; title: string }[]) => (
    <section>
      <h2>{title} <span class="count">{pages.length}</span></h2>
      <ul>{pages.map((page) => <li key={page.id}><a href={`#/catalogue/${page.id}`} aria-current={page.id === id ? 'page' : undefined}>{page.title}</a></li>)}</ul>
    </section>
  );
  const finding = full.findings.find((page) => page.id === id);
  const cause = full.causes.find((page) => page.id === id);
  return (
    <main class={`catalogue ${id ? 'chosen' : ''}`}>
      <nav aria-label="Catalogue">
        <input type="search" placeholder="Search the catalogue" aria-label="Search the catalogue" value={words} onInput={(e) => setWords(e.currentTarget.value)} />
        {list('Findings', full.findings.filter(fits))}
        {list('Causes', full.causes.filter(fits))}
      </nav>
      <div class="page">
        {id && <a class="back" href="#/catalogue">All findings and causes</a>}
        {finding && <FindingPage finding={finding} catalogue={catalogue} ids={ids} />}
        {cause && <CausePage cause={cause} catalogue={catalogue} ids={ids} />}
        {id && !finding && !cause && <p class="quiet">The catalogue has no page of this name.</p>}
        {!id && (
          <article class="intro">
            <h1>Catalogue</h1>
            <p>A finding is something seen in the numbers. A cause is what may lie behind it. Choose one to read what it is, how it shows, when it is harmless and what to do.</p>
          </article>
        )}
      </div>
    </main>
  );
}
