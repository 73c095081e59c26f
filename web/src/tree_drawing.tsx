// The diagnosis tree as a drawing: "no" leads down, "yes" leads right; a click on a box walks there.
import type { TreeNode } from './api';

const kWidth = 218;
const kHeight = 66;
const kAcross = 40;
const kDown = 22;

export type Answers = Record<string, 'yes' | 'no'>;

interface Placed {
  node: TreeNode;
  column: number;
  row: number;
  answers: Answers; // that lead here
  from: { column: number; row: number; word: 'yes' | 'no'; id: string } | null;
}

/** Gives every node its place; the branch of each "yes" takes as many rows as it needs. */
function placesOf(nodes: Map<string, TreeNode>, root: TreeNode): Placed[] {
  const places: Placed[] = [];
  const place = (node: TreeNode, column: number, row: number, answers: Answers, from: Placed['from']): number => {
    places.push({ node, column, row, answers, from });
    const [yes, no] = [nodes.get(node.yes), nodes.get(node.no)];
    if (node.findings.length === 0 || !yes || !no) return 1;
    const taken = place(yes, column + 1, row, { ...answers, [node.id]: 'yes' }, { column, row, word: 'yes', id: node.id });
    return taken + place(no, column, row + taken, { ...answers, [node.id]: 'no' }, { column, row, word: 'no', id: node.id });
  };
  place(root, 0, 0, {}, null);
  return places;
}

/** What fits into a box: of a conclusion what is the matter, without what to do about it. */
const inShort = (node: TreeNode) => (node.findings.length > 0 ? node.text : node.text.split(/[:.]/, 1)[0]!);

const left = (column: number) => column * (kWidth + kAcross);
const top = (row: number) => row * (kHeight + kDown);

function Edge({ place, walked }: { place: Placed; walked: boolean }) {
  const from = place.from!;
  const yes = from.word === 'yes';
  const [x1, y1] = yes ? [left(from.column) + kWidth, top(from.row) + kHeight / 2] : [left(from.column) + 24, top(from.row) + kHeight];
  const [x2, y2] = yes ? [left(place.column), top(place.row) + kHeight / 2] : [left(place.column) + 24, top(place.row)];
  return (
    <g class={walked ? 'walked' : ''}>
      <path d={`M${x1} ${y1} L${x2} ${y2}`} />
      {/* A long way down says its word where it starts. */}
      <text x={yes ? (x1 + x2) / 2 : x1 + 6} y={yes ? y1 - 5 : y1 + 15} text-anchor={yes ? 'middle' : 'start'}>{from.word}</text>
    </g>
  );
}

export function TreeDrawing({ tree, way, onWalk }: { tree: TreeNode[]; way: string[]; onWalk: (answers: Answers) => void }) {
  const nodes = new Map(tree.map((node) => [node.id, node]));
  const root = tree[0];
  if (!root) return null;
  const places = placesOf(nodes, root);
  const width = left(Math.max(...places.map((place) => place.column))) + kWidth;
  const height = top(Math.max(...places.map((place) => place.row))) + kHeight;
  // A conclusion may be reached by several ways: only the one that was walked is marked.
  const walked = (place: Placed) => way.includes(place.node.id) && (!place.from || (way.includes(place.from.id) && way[way.indexOf(place.from.id) + 1] === place.node.id));
  return (
    <div class="scroll drawing" role="group" aria-label="Drawing of the tree">
      <div class="plane" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">{places.map((place) => place.from && <Edge key={`${place.row} ${place.column}`} place={place} walked={walked(place)} />)}</svg>
        {places.map((place) => (
          <button
            key={`${place.row} ${place.column}`}
            class={`${place.node.findings.length === 0 ? 'leaf-box' : 'question-box'} ${walked(place) ? 'walked' : ''}`}
            aria-current={walked(place) && way[way.length - 1] === place.node.id ? 'step' : undefined}
            title={place.node.text}
            style={{ left: `${left(place.column)}px`, top: `${top(place.row)}px`, width: `${kWidth}px`, height: `${kHeight}px` }}
            onClick={() => onWalk(place.answers)}
          >
            <span>{inShort(place.node)}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
