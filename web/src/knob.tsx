// Knob: one setting of the playground's training as a slider, a list or a switch.
import { useId, useState } from 'preact/hooks';
import type { Knob } from './api';

const kPlaces = 240;
const kSmallest = 1e-9;

/** Where a logarithmic slider that reaches zero leaves it for the first time. */
const lowest = (knob: Knob) => (knob.least! > 0 ? knob.least! : Math.min(knob.most! * kSmallest, 1e-3));

function toPlace(knob: Knob, value: number): number {
  const [least, most] = [knob.least!, knob.most!];
  if (!knob.logarithmic) return Math.round((kPlaces * (value - least)) / (most - least));
  const low = lowest(knob);
  if (value < low) return 0;
  return Math.round((kPlaces * Math.log(value / low)) / Math.log(most / low));
}

function toValue(knob: Knob, place: number): number {
  const [least, most] = [knob.least!, knob.most!];
  const whole = knob.kind === 'whole';
  if (!knob.logarithmic) {
    const value = least + ((most - least) * place) / kPlaces;
    return whole ? Math.round(value) : Number(value.toPrecision(3));
  }
  if (place === 0) return least;
  const low = lowest(knob);
  const value = low * (most / low) ** (place / kPlaces);
  return whole ? Math.round(value) : Number(value.toPrecision(2));
}

const words = (name: string) => name.replaceAll('_', ' ');

interface KnobProps {
  knob: Knob;
  value: string;
  usual: string;
  onChange: (value: string) => void;
}

/** The value as text. What is being typed is kept here: the page may be drawn anew between two keys. */
function Exact({ knob, value, disabled, onChange }: Pick<KnobProps, 'knob' | 'value' | 'onChange'> & { disabled: boolean }) {
  const [typed, setTyped] = useState<string | null>(null);
  const take = (text: string) => {
    setTyped(null);
    onChange(text.trim());
  };
  return (
    <input class="exact" type="text" inputMode="decimal" value={typed ?? value} disabled={disabled} aria-label={`${words(knob.name)}, exactly`}
      onInput={(e) => setTyped(e.currentTarget.value)} onChange={(e) => take(e.currentTarget.value)} onBlur={() => setTyped(null)} />
  );
}

function Slider({ knob, value, onChange, id }: KnobProps & { id: string }) {
  const off = value === 'none';
  const number = off ? 1 : Number(value);
  return (
    <>
      {knob.optional && <input type="checkbox" aria-label={`Use ${words(knob.name)}`} checked={!off} onChange={() => onChange(off ? '1' : 'none')} />}
      <input id={id} type="range" min={0} max={kPlaces} value={toPlace(knob, number)} disabled={off} aria-valuetext={value} onInput={(e) => onChange(String(toValue(knob, Number(e.currentTarget.value))))} />
      <Exact knob={knob} value={value} disabled={off} onChange={onChange} />
    </>
  );
}

export function KnobControl(props: KnobProps) {
  const { knob, value, usual, onChange } = props;
  const id = useId();
  return (
    <div class={`knob ${value === usual ? '' : 'turned'}`} title={knob.doc}>
      <label for={id}>{words(knob.name)}</label>
      <span class="control">
        {knob.kind === 'choice' ? (
          <select id={id} value={value} onChange={(e) => onChange(e.currentTarget.value)}>{knob.choices!.map((one) => <option key={one}>{one}</option>)}</select>
        ) : knob.kind === 'flag' ? (
          <input id={id} type="checkbox" checked={value === 'on'} onChange={(e) => onChange(e.currentTarget.checked ? 'on' : 'off')} />
        ) : (
          <Slider {...props} id={id} />
        )}
      </span>
    </div>
  );
}
