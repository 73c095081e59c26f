// Probing: tests that can be run on a training of the playground, and what they found.
import { useState } from 'preact/hooks';
import { changeJob, type Choices, type Job, type ProbeResult } from './api';
import { ExperimentCard } from './experiments';

type Offered = Extract<Choices, { available: true }>['probes'];

function Running({ job }: { job: Job }) {
  const { step: at, steps, seconds_left: left } = job.progress;
  const what = job.phase === 'probe' ? `pass ${at} of about ${steps}${left && left >= 1 ? `, about ${Math.round(left)} s left` : ''}` : steps ? `training first, step ${at} of ${steps}` : 'starting …';
  return (
    <p class="progress">
      <progress max={steps ?? 1} value={steps ? at : undefined} aria-label={`Probe ${job.probe}`} />
      <span>{job.probe}: {what}</span>
      <button onClick={() => void changeJob('cancel', { job: job.id }).catch(() => undefined)}>Stop</button>
    </p>
  );
}

function Answer({ job, question }: { job: Job; question: string | undefined }) {
  const result = job.result as ProbeResult | null;
  return (
    <section class="probed" aria-label={`Probe ${job.probe}`}>
      <h3>{question ?? job.probe}</h3>
      {!result && <p class={job.state === 'failed' ? 'trouble' : 'quiet'}>{job.error ?? 'It was stopped before it had an answer.'}</p>}
      {result?.words && <pre class="words">{result.words}</pre>}
      {result?.experiments.map((experiment) => <ExperimentCard key={experiment.probe} experiment={experiment} />)}
    </section>
  );
}

/** Buttons for all probes, and the answers so far, the newest first. */
export function Probing({ training, offered, jobs }: { training: Job; offered: Offered; jobs: Job[] }) {
  const [error, setError] = useState('');
  const running = new Set(jobs.filter((job) => job.state === 'running').map((job) => job.probe));
  const start = (probe: string) => {
    setError('');
    changeJob('probe', { job: training.id, probe }).catch((problem: Error) => setError(problem.message));
  };
  return (
    <section class="probes" aria-label="Probes">
      <p role="group" aria-label="Probe it">
        <span class="quiet">Test it:</span>{' '}
        {offered.map(({ name, question, trained }) => (
          <button key={name} title={`${question} (on the ${trained ? 'trained' : 'fresh'} network)`} disabled={running.has(name)} onClick={() => start(name)}>{name}</button>
        ))}
      </p>
      {error && <p class="trouble" role="alert">{error}</p>}
      {jobs.map((job) => (job.state === 'running' ? <Running key={job.id} job={job} /> : <Answer key={job.id} job={job} question={offered.find(({ name }) => name === job.probe)?.question} />))}
    </section>
  );
}
