// Learn: the course, lesson by lesson, with its exercises checked on the spot and its patients a click from the playground.
import { useMemo, useState } from 'preact/hooks';
import { checkAnswer, type CourseExercise, type CourseFile, getCatalogue, getLessons, getSolution } from './api';
import { useLoaded } from './loading';
import { Markdown } from './markdown';

const kDone = 'osler-learn-done';

function done(): Set<number> {
  try {
    return new Set(JSON.parse(localStorage.getItem(kDone) ?? '[]') as number[]);
  } catch {
    return new Set();
  }
}

function Files({ files }: { files: CourseFile[] }) {
  return <>{files.map((file) => <details key={file.name}><summary><code>{file.name}</code></summary><pre><code>{file.text}</code></pre></details>)}</>;
}

function Exercise({ exercise, ids, solved, onSolved }: { exercise: CourseExercise; ids: Set<string>; solved: boolean; onSolved: () => void }) {
  const [answer, setAnswer] = useState('');
  const [verdict, setVerdict] = useState<{ right: boolean; text: string } | null>(null);
  const [solution, setSolution] = useState<{ text: string; files: CourseFile[] } | null>(null);
  const [error, setError] = useState('');
  const { number } = exercise;
  const trouble = (problem: Error) => setError(problem.message);
  const check = (event: Event) => {
    event.preventDefault();
    setError('');
    checkAnswer(number, answer).then((said) => {
      setVerdict(said);
      if (said.right) onSolved();
    }, trouble);
  };
  return (
    <section class="exercise" aria-label={`Exercise ${number}`}>
      <h3>{number}. {exercise.title} {solved && <span class="quiet small">solved</span>}</h3>
      <Markdown text={exercise.text} ids={ids} />
      {exercise.checked && (
        <form onSubmit={check}>
          <label>Answer <input value={answer} onInput={(e) => setAnswer(e.currentTarget.value)} aria-label={`Answer to exercise ${number}`} /></label>{' '}
          <button disabled={answer.trim() === ''}>Check</button>
        </form>
      )}
      {exercise.files.length > 0 && (
        <>
          <p>Write the skeleton to your folder with <code>osler learn take {number}</code>, and run its tests with <code>osler learn check {number} FILE</code>.</p>
          <Files files={exercise.files} />
        </>
      )}
      {verdict && <p role="status" class={verdict.right ? '' : 'trouble'}><b>{verdict.right ? 'Right.' : 'Not yet.'}</b> {verdict.text}</p>}
      {error && <p class="trouble" role="alert">{error}</p>}
      {solution ? <div class="solution"><Markdown text={solution.text} ids={ids} /><Files files={solution.files} /></div> : <p><button onClick={() => void getSolution(number).then(setSolution, trouble)}>Show the solution</button></p>}
    </section>
  );
}

export function LearnPage({ number }: { number: number }) {
  const lessons = useLoaded(getLessons, 'lessons');
  const catalogue = useLoaded(getCatalogue, 'catalogue');
  const [solved, setSolved] = useState(done);
  const ids = useMemo(() => new Set([...(catalogue.value?.findings ?? []), ...(catalogue.value?.causes ?? [])].map(({ id }) => id)), [catalogue.value]);
  const all = lessons.value;
  if (!all) return <main><h1>Learn</h1><p class={lessons.error ? 'trouble' : 'quiet'}>{lessons.error ?? 'Loading …'}</p></main>;
  const lesson = all.find((one) => one.number === number) ?? all[0]!;
  const next = all.find((one) => one.number === lesson.number + 1);
  const solve = (exercise: number) => {
    const now = new Set(solved).add(exercise);
    localStorage.setItem(kDone, JSON.stringify([...now]));
    setSolved(now);
  };
  return (
    <main class="catalogue learn">
      <nav aria-label="Lessons">
        <ol>
          {all.map((one) => (
            <li key={one.number}>
              <a href={`#/learn/${one.number}`} aria-current={one === lesson ? 'page' : undefined}>{one.title}</a>{' '}
              <span class="quiet small">{one.exercises.filter(({ number: n }) => solved.has(n)).length} of {one.exercises.length}</span>
            </li>
          ))}
        </ol>
      </nav>
      <article key={lesson.number}>
        <p class="kind">Lesson {lesson.number} of {all.length}</p>
        <h1>{lesson.title}</h1>
        <Markdown text={lesson.text} ids={ids} />
        <p>Patients wait on the <a href="#/playground">playground</a>.</p>
        {lesson.exercises.length > 0 && <h2>Exercises</h2>}
        {lesson.exercises.map((exercise) => <Exercise key={exercise.number} exercise={exercise} ids={ids} solved={solved.has(exercise.number)} onSolved={() => solve(exercise.number)} />)}
        {next && <p><a class="button" href={`#/learn/${next.number}`}>Next: {next.title}</a></p>}
      </article>
    </main>
  );
}
