// Treatment: which remedies were tried on a training of the playground, what each did, and what came of it.
import type { CourseOutcome, Job, TreatmentResult } from './api';
import { useRuns } from './store';
import { Badge, number, percent } from './words';

function Truth({ outcome }: { outcome: CourseOutcome | null | undefined }) {
  if (!outcome) return null;
  return (
    <>
      {outcome.true_accuracy !== null && <>accuracy {percent(outcome.true_accuracy)}, </>}
      loss {outcome.true_loss === null ? 'not finite' : number(outcome.true_loss)}
    </>
  );
}

function Side({ title, run, outcome }: { title: string; run: string | null; outcome: CourseOutcome | null | undefined }) {
  const card = useRuns().cards.get(run ?? '');
  return (
    <tr>
      <th scope="row">{title}</th>
      <td>{card && <Badge status={card.status} />}</td>
      <td><Truth outcome={outcome} /></td>
      <td><bdi>{card?.headline}</bdi></td>
    </tr>
  );
}

function Trials({ result }: { result: TreatmentResult }) {
  if (result.trials.length === 0) return <p class="quiet">The report has no remedy that a machine can apply to this training.</p>;
  return (
    <div class="scroll">
      <table class="sides">
        <thead><tr><th>Tried</th><th>Loss without</th><th>Loss with</th><th>Kept</th></tr></thead>
        <tbody>
          {result.trials.map((trial) => (
            <tr key={`${trial.name} ${trial.to}`}>
              <th scope="row"><code>{trial.name} = {trial.to}</code></th>
              <td>{number(trial.before ?? 'nan')}</td>
              <td>{number(trial.after ?? 'nan')}</td>
              <td>{trial.kept ? 'yes' : 'no'} <span class="quiet">{trial.why}</span></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What a treatment that has ended did. */
export function Treatment({ sick, job }: { sick: Job; job: Job }) {
  const result = job.result as TreatmentResult | null;
  if (!result) return null;
  return (
    <section class="treatment" aria-label="Treatment">
      <h2>Treatment</h2>
      <p>
        {result.changes.length === 0 ? 'Nothing that was tried helped, so nothing was changed.' : result.prescribed ? 'The remedies of the report did not help here; the treatment of the patient’s own page was taken:' : 'What helped was kept:'}
        {result.changes.map((change) => [' ', <code key={change.name}>{change.name} {change.from} → {change.to}</code>])}
      </p>
      {result.outcome && (
        <div class="scroll">
          <table class="sides outcome-of">
            <thead><tr><th /><th>Verdict</th><th>On clean data</th><th>Headline</th></tr></thead>
            <tbody>
              <Side title="Before" run={sick.run} outcome={sick.result as CourseOutcome | null} />
              <Side title="After" run={job.run} outcome={result.outcome} />
            </tbody>
          </table>
        </div>
      )}
      <Trials result={result} />
      {result.for_a_person.length > 0 && (
        <details>
          <summary>For a person to do <span class="count">{result.for_a_person.length}</span></summary>
          <ul>{result.for_a_person.map((text) => <li key={text}>{text}</li>)}</ul>
        </details>
      )}
      {job.run && sick.run && result.outcome && <p><a class="button" href={`#/compare/${sick.run},${job.run}`}>Lay both over each other</a></p>}
    </section>
  );
}
