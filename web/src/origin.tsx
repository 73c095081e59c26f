// The origin of a NaN as a small graph: the layer, the operation that made it, and where it arrived.
import type { Origin } from './api';
import { step } from './words';

interface Parsed {
  chain: string[];
  operation: string;
  inside: string;
  backward: boolean;
  made: string;
  detail: string;
}

/** Takes apart the sentence in which the monitor tells it; nothing when it is worded in another way. */
export function parseOrigin(text: string): Parsed | null {
  const sentence = text.replace(/^The (loss|gradient of .*?) is not finite\.\s*/, '').replace(/\s*The step was left out\.$/, '');
  const match = /^(\S+?)( \(backward\))?(?: inside (\S+))?(?: at (.+?))? (made|was given) ([^:]+?)(?:: (.*))?$/.exec(sentence);
  if (!match) return null;
  const [, operation, backward, inside, layer, verb, what, detail] = match;
  return {
    chain: layer ? layer.split(/\s*->\s*/) : [],
    operation: operation!,
    inside: inside ?? '',
    backward: Boolean(backward),
    made: `${verb === 'made' ? 'made' : 'was given'} ${what!.replace(/\.$/, '')}`,
    detail: (detail ?? '').replace(/\.$/, ''),
  };
}

export function OriginGraph({ origin }: { origin: Origin }) {
  const parsed = parseOrigin(origin.text);
  const nodes = parsed
    ? [...parsed.chain.map((name) => ({ name, note: '', bad: false })), { name: parsed.operation, note: [parsed.inside && `inside ${parsed.inside}`, parsed.backward && 'backward'].filter(Boolean).join(', '), bad: true }]
    : [{ name: origin.cause, note: '', bad: true }];
  const end = parsed?.backward ? 'gradient' : 'loss';
  return (
    <section class="origin" aria-labelledby="origin">
      <h2 id="origin">Where the first NaN came from</h2>
      <ol class="ops" aria-label="From layer to loss">
        {nodes.map((node) => (
          <li key={node.name} class={node.bad ? 'bad' : ''}>
            <code>{node.name}</code>
            {node.note && <span class="quiet small">{node.note}</span>}
          </li>
        ))}
        <li class="after"><span>{end}</span><span class="small">not finite</span></li>
      </ol>
      {parsed && <p>At step {step(origin.step)} <code>{parsed.operation}</code> {parsed.made}{parsed.detail ? `: ${parsed.detail}` : ''}.</p>}
      {!parsed && <p><bdi>{origin.text}</bdi></p>}
      <a href={`#/catalogue/${origin.cause}`}>What this cause means</a>
    </section>
  );
}
