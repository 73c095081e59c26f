// Playground: set a small training, watch it being trained and diagnosed, and have it treated.
import { useMemo, useState } from 'preact/hooks';
import { changeJob, type Choices, type CourseOutcome, getChoices, type Job, type Knob, type Patient } from './api';
import { KnobControl } from './knob';
import { useLoaded } from './loading';
import { Probing } from './probing';
import { RunView } from './run';
import { useRuns } from './store';
import { Treatment } from './treatment';
import { Badge, number, step } from './words';

const kGroups: [string, string[]][] = [
  ['Network', ['task', 'model', 'depth', 'width', 'activation', 'init', 'init_gain', 'normalization', 'residual', 'dropout']],
  ['Training', ['optimizer', 'lr', 'schedule', 'warmup_steps', 'clip_norm', 'weight_decay', 'batch_size', 'precision', 'loss', 'steps']],
  ['Data', ['samples', 'label_noise', 'imbalance', 'bad_samples', 'overlap', 'labels_match', 'input_normalization', 'shuffle', 'fresh_batches', 'trap']],
];
const kInGroups = new Set(kGroups.flatMap(([, names]) => names));

type Offer = Extract<Choices, { available: true }>;

interface Chosen {
  patient: string;
  turned: Record<string, string>;
}

/** What was set stays set while other pages are looked at. */
let kept: Chosen = { patient: '', turned: {} };

function Bench({ offer, onStarted }: { offer: Offer; onStarted: (job: Job) => void }) {
  const [chosen, setChosen] = useState(kept);
  const [error, setError] = useState('');
  const [asking, setAsking] = useState(false);
  const set = (next: Chosen) => setChosen((kept = next));
  const patient: Patient | undefined = offer.patients.find((one) => one.id === chosen.patient);
  const usual = (knob: Knob) => patient?.settings[knob.name] ?? knob.value;
  const knobs = useMemo(() => new Map(offer.knobs.map((knob) => [knob.name, knob])), [offer]);
  const turn = (knob: Knob, value: string) => {
    const { [knob.name]: _, ...others } = chosen.turned;
    set({ ...chosen, turned: value === usual(knob) ? others : { ...others, [knob.name]: value } });
  };
  const control = (knob: Knob) => <KnobControl key={knob.name} knob={knob} value={chosen.turned[knob.name] ?? usual(knob)} usual={usual(knob)} onChange={(value) => turn(knob, value)} />;
  const train = async () => {
    setAsking(true);
    setError('');
    try {
      onStarted(await changeJob('train', { patient: chosen.patient || null, settings: chosen.turned }));
    } catch (problem) {
      setError((problem as Error).message);
    }
    setAsking(false);
  };
  const turned = Object.keys(chosen.turned).length;
  return (
    <section class="bench" aria-label="The training">
      <div class="tools">
        <label class="choice">
          Start from
          <select value={chosen.patient} onChange={(e) => set({ patient: e.currentTarget.value, turned: {} })}>
            <option value="">a healthy small network</option>
            {offer.patients.map((one) => <option key={one.id} value={one.id}>{one.id}</option>)}
          </select>
        </label>
        <button class="main" disabled={asking} onClick={train}>Train</button>
        <button disabled={turned === 0} onClick={() => set({ ...chosen, turned: {} })}>Set back {turned > 0 ? turned : ''}</button>
      </div>
      {patient && <p class="lead"><b>{patient.title}.</b> {patient.story}</p>}
      {error && <p class="trouble" role="alert">{error}</p>}
      <div class="groups">
        {kGroups.map(([title, names]) => (
          <fieldset key={title}>
            <legend>{title}</legend>
            {names.map((name) => knobs.get(name)).map((knob) => knob && control(knob))}
          </fieldset>
        ))}
      </div>
      <details>
        <summary>Everything else that can go wrong <span class="count">{offer.knobs.length - kInGroups.size}</span></summary>
        <div class="groups rest">{offer.knobs.filter((knob) => !kInGroups.has(knob.name)).map(control)}</div>
      </details>
    </section>
  );
}

const nameOf = (job: Job) => `${job.patient ?? 'own'}-${job.of ?? job.id}`;

function Progress({ job, what }: { job: Job; what: string }) {
  const { step: at, steps, loss } = job.progress;
  return (
    <p class="progress">
      <progress max={steps ?? 1} value={steps ? at : undefined} aria-label={what} />
      <span>
        {what}{job.phase.startsWith('fork') ? `, ${job.phase.replace('fork', 'trial')}` : job.phase === 'treated' ? ', training with what helped' : ''}
        {steps ? `: step ${step(at ?? 0)} of ${step(steps)}, loss ${loss == null ? 'not finite' : number(loss)}` : ' …'}
      </span>
      <button onClick={() => void changeJob('cancel', { job: job.id }).catch(() => undefined)}>Stop</button>
    </p>
  );
}

function ending(job: Job): string {
  const outcome = job.result as CourseOutcome | null;
  if (job.state === 'failed') return job.error ?? 'It failed.';
  if (job.state === 'stopped') return 'You stopped it.';
  if (job.state === 'timed-out' || outcome?.stopped) return 'It took too long and was stopped.';
  return '';
}

function Try({ sick, treatment, probes, offer }: { sick: Job; treatment: Job | undefined; probes: Job[]; offer: Offer }) {
  const { cards } = useRuns();
  const [error, setError] = useState('');
  const [after, setAfter] = useState(false);
  const healthy = cards.get(sick.run ?? '')?.status === 'healthy';
  const treat = () => {
    setError('');
    changeJob('treat', { job: sick.id }).catch((problem: Error) => setError(problem.message));
  };
  const shown = after && treatment?.run ? treatment.run : sick.run;
  return (
    <section class="try" aria-label={`Training ${nameOf(sick)}`}>
      {sick.state === 'running' && <Progress job={sick} what="Training" />}
      {sick.state !== 'running' && ending(sick) && <p class={sick.state === 'failed' ? 'trouble' : 'quiet'}>{ending(sick)}</p>}
      {treatment?.state === 'running' && <Progress job={treatment} what="Treating" />}
      {treatment && treatment.state !== 'running' && ending(treatment) && <p class={treatment.state === 'failed' ? 'trouble' : 'quiet'}>Treatment: {ending(treatment)}</p>}
      {sick.state !== 'running' && treatment?.state !== 'running' && sick.run && (
        <p>
          <button class="main" disabled={healthy} onClick={treat}>{treatment ? 'Treat again' : 'Treat'}</button>{' '}
          <span class="quiet small">{healthy ? 'Nothing is wrong with it, so there is nothing to treat.' : 'Tries the remedies of the report below in short trainings and keeps what measurably helps.'}</span>
        </p>
      )}
      {error && <p class="trouble" role="alert">{error}</p>}
      {treatment && treatment.state !== 'running' && <Treatment sick={sick} job={treatment} />}
      {treatment?.run && (
        <p class="switch" role="group" aria-label="Run shown">
          <button aria-pressed={!after} onClick={() => setAfter(false)}>Before</button>
          <button aria-pressed={after} onClick={() => setAfter(true)}>After</button>
        </p>
      )}
      {sick.state !== 'running' && sick.run && <Probing training={sick} offered={offer.probes} jobs={probes} />}
      {shown && <RunView key={shown} id={shown} />}
    </section>
  );
}

export function PlaygroundPage() {
  const { jobs, cards, connected } = useRuns();
  const choices = useLoaded(getChoices, 'choices', connected);
  const [shown, setShown] = useState<number | null>(null);
  const trainings = jobs.filter((job) => job.of === null);
  const sick = trainings.find((job) => job.id === shown) ?? trainings[0];
  const offer = choices.value;
  if (!offer) return <main><h1>Playground</h1><p class={choices.error ? 'trouble' : 'quiet'}>{choices.error ?? 'Loading …'}</p></main>;
  if (!offer.available) return <main class="playground"><h1>Playground</h1><p>Here one can train small networks, sick ones above all, and watch them being diagnosed and treated. But {offer.why}.</p></main>;
  return (
    <main class="playground">
      <h1>Playground</h1>
      <p class="lead">
        A real network is trained for you by LibTorch, for at most {offer.seconds} seconds; {offer.at_once} at a time. Turn what you like, press <i>Train</i>, and see what Osler makes of it.
      </p>
      <Bench offer={offer} onStarted={(job) => setShown(job.id)} />
      {trainings.length > 0 && (
        <nav class="tries" aria-label="Trainings">
          {trainings.map((job) => {
            const card = cards.get(job.run ?? '');
            return <button key={job.id} aria-pressed={job === sick} onClick={() => setShown(job.id)}>{card && <Badge status={card.status} shape />} {nameOf(job)}</button>;
          })}
        </nav>
      )}
      {sick && <Try key={sick.id} sick={sick} treatment={jobs.find((job) => job.of === sick.id && !job.probe)} probes={jobs.filter((job) => job.of === sick.id && job.probe)} offer={offer} />}
    </main>
  );
}
