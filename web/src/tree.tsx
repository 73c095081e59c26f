// Tree: the questions a physician asks, in order, to walk by hand or along the way of a run.
import { useEffect, useState } from 'preact/hooks';
import { getCatalogue, getTree, type RunDetail, source, type TreeNode } from './api';
import { useLoaded } from './loading';
import { type Answers, TreeDrawing } from './tree_drawing';

type Titles = Map<string, string>;

/** A name of the catalogue; a report has no room for every page, so there it is a name only. */
export function PageLink({ id, titles }: { id: string; titles: Titles }) {
  const title = titles.get(id) ?? id;
  return source.live ? <a href={`#/catalogue/${id}`}>{title}</a> : <>{title}</>;
}

export function Names({ ids, titles }: { ids: string[]; titles: Titles }) {
  return <>{ids.map((id, i) => [i > 0 && ', ', <PageLink id={id} titles={titles} />])}</>;
}

function Leaf({ node, titles }: { node: TreeNode; titles: Titles }) {
  return (
    <div class="leaf">
      <p>{node.text}</p>
      {node.causes.length > 0 && <p class="quiet">Suspect: <Names ids={node.causes} titles={titles} /></p>}
    </div>
  );
}

/** With a run, the way that its numbers take is walked at first. */
export function TreePage({ run }: { run: string }) {
  const walker = useLoaded(() => (run ? source.run(run) : Promise.resolve(null)), run);
  const tree = useLoaded(getTree, 'tree');
  const catalogue = useLoaded(getCatalogue, 'catalogue');
  const [answers, setAnswers] = useState<Answers>({});
  useEffect(() => setAnswers(Object.fromEntries((walker.value?.way ?? []).map((stop) => [stop.id, stop.answer === 'yes' ? 'yes' : 'no']))), [walker.value]);
  const error = tree.error ?? catalogue.error;
  if (error) return <main><p class="trouble">{error}</p></main>;
  if (!tree.value || !catalogue.value) return <main><p class="quiet">Loading …</p></main>;
  const titles: Titles = new Map([...catalogue.value.findings, ...catalogue.value.causes].map((page) => [page.id, page.title]));
  const nodes = new Map(tree.value.map((node) => [node.id, node]));
  const way: TreeNode[] = [];
  for (let node = tree.value[0]; node; ) {
    way.push(node);
    const answer = answers[node.id];
    if (node.findings.length === 0 || !answer) break;
    node = nodes.get(node[answer]);
  }
  const answer = (at: number, word: 'yes' | 'no') => {
    const kept = Object.fromEntries(way.slice(0, at).map((node) => [node.id, answers[node.id]!]));
    setAnswers({ ...kept, [way[at]!.id]: word });
  };
  return (
    <main class="tree">
      <div class="tools">
        <h1>Diagnosis tree</h1>
        <button disabled={way.length < 2} onClick={() => setAnswers({})}>Start again</button>
      </div>
      <p class="lead">
        {walker.value ? <>The way that the numbers of <a href={`#/run/${run}`}><bdi>{walker.value.name.slice(0, 120)}</bdi></a> take. Change an answer to see what else it could be.</> : 'The questions in the order a physician asks them. Answer them one by one, or choose a place in the drawing; the page of a run shows the way its own numbers take.'}
      </p>
      <div class="halves">
        <ol class="way">
          {way.map((node, at) =>
            node.findings.length === 0 ? (
              <li key={node.id} class="end"><Leaf node={node} titles={titles} /></li>
            ) : (
              <li key={node.id}>
                <p class="question">{node.text}</p>
                <div class="answers" role="group" aria-label={node.text}>
                  {(['yes', 'no'] as const).map((word) => (
                    <button key={word} aria-pressed={answers[node.id] === word} onClick={() => answer(at, word)}>{word === 'yes' ? 'Yes' : 'No'}</button>
                  ))}
                </div>
                <p class="quiet small">Yes when Osler finds: <Names ids={node.findings} titles={titles} /></p>
              </li>
            ),
          )}
        </ol>
        <TreeDrawing tree={tree.value} way={way.map((node) => node.id)} onWalk={setAnswers} />
      </div>
    </main>
  );
}

/** The way that a run takes through the tree. */
export function Way({ run, way, titles }: { run: string; way: RunDetail['way']; titles: Titles }) {
  const { value } = useLoaded(getTree, 'tree');
  if (!value) return null;
  const nodes = new Map(value.map((node) => [node.id, node]));
  return (
    <>
      {source.live && <p class="small"><a href={`#/tree/${run}`}>See it in the drawing</a></p>}
      <ol class="way small">
        {way.map((stop) => {
          const node = nodes.get(stop.id);
          if (!node) return null;
          if (node.findings.length === 0) return <li key={stop.id} class="end"><Leaf node={node} titles={titles} /></li>;
          return (
            <li key={stop.id}>
              <span class={`answer ${stop.answer}`}>{stop.answer === 'unknown' ? '?' : stop.answer}</span> {node.text} <span class="quiet">{stop.because}</span>
            </li>
          );
        })}
      </ol>
    </>
  );
}
