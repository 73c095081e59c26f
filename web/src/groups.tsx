// Groups: many runs as a few curves, each the mean of runs that differ by their seed or share a setting, with a band.
import { useMemo } from 'preact/hooks';
import { type Report, type RunDetail, type Status } from './api';
import { useAxis } from './axis';
import { Chart, type Line } from './chart';
import { type Group, groupingKeys, groupsOf, kBySeed, meanOf } from './grouping';
import { Panel, useLook } from './panel';
import { kLineColours } from './palette';
import { inRole, kGroups } from './roles';
import { useRuns } from './store';
import { Swatch } from './swatch';
import { Badge, number, statusName } from './words';

export type Loaded = { run: RunDetail; report: Report };

const kFigures: [string, string][] = [
  ['final-train-loss', 'Last loss'],
  ['best-validation-loss', 'Best validation loss'],
  ['final-validation-metric', 'Last validation metric'],
  ['final-reward', 'Last reward'],
];
const kRank: Status[] = ['critical', 'warning', 'insufficient-data', 'healthy'];

const kLoaded = { nameOf: ({ run }: Loaded) => run.name, settingsOf: ({ run }: Loaded) => run.configuration };

/** How the chosen runs can be grouped. */
export function waysToGroup(runs: Loaded[]): string[] {
  const settings = runs.map(({ run }) => run.configuration);
  const bySeed = groupsOf(runs, kLoaded, kBySeed);
  return [...(bySeed.length < runs.length ? [kBySeed] : []), ...groupingKeys(settings)];
}

export function GroupChooser({ ways, by, onChoose }: { ways: string[]; by: string; onChoose: (by: string) => void }) {
  if (ways.length === 0) return null;
  return (
    <label class="choice group-by">
      Group
      <select value={by} onChange={(e) => onChoose(e.currentTarget.value)}>
        <option value="">each run by itself</option>
        {ways.map((way) => <option key={way} value={way}>{way === kBySeed ? 'the same but for the seed' : `by ${way.slice(0, 60)}`}</option>)}
      </select>
    </label>
  );
}

/** "0.31 ± 0.02", or the number alone. */
function Spread({ values }: { values: number[] }) {
  const found = meanOf(values);
  if (!found) return null;
  return <>{number(found.mean)}{found.deviation !== null && <span class="scatter"> ± {number(Number(found.deviation.toPrecision(2)))}</span>}</>;
}

function figuresOf(group: Group<Loaded>, name: string): number[] {
  return group.members.map(({ report }) => report.metrics[name]).filter((value): value is number => typeof value === 'number' && Number.isFinite(value));
}

function Table({ groups }: { groups: Group<Loaded>[] }) {
  const { cards } = useRuns();
  const figures = kFigures.filter(([name]) => groups.some((group) => figuresOf(group, name).length > 0));
  return (
    <div class="scroll">
      <table class="sides groups">
        <thead><tr><th>Group</th><th>Runs</th>{figures.map(([name, title]) => <th key={name}>{title}</th>)}</tr></thead>
        <tbody>
          {groups.map((group, i) => {
            const statuses = kRank.map((status) => [status, group.members.filter(({ report }) => report.status === status).length] as const).filter(([, count]) => count > 0);
            return (
              <tr key={group.label}>
                <th scope="row"><Swatch ink={i} /> <bdi>{group.label.slice(0, 160)}</bdi></th>
                <td>
                  <details>
                    <summary>{group.members.length} {statuses.map(([status, count]) => <span key={status} title={statusName(status)}><Badge status={status} shape />{statuses.length > 1 ? count : ''} </span>)}</summary>
                    <ul class="plain">{group.members.map(({ run }) => <li key={run.id}><a href={`#/run/${run.id}`}><bdi>{(cards.get(run.id)?.name ?? run.name).slice(0, 120)}</bdi></a></li>)}</ul>
                  </details>
                </td>
                {figures.map(([name]) => <td key={name}><Spread values={figuresOf(group, name)} /></td>)}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

export function GroupedOverlay({ runs, by, revision }: { runs: Loaded[]; by: string; revision: string }) {
  const { look, setLook, view, setView } = useLook();
  const axis = useAxis('step', runs);
  const groups = useMemo(() => groupsOf(runs, kLoaded, by), [runs, by]);
  const shown = groups.slice(0, kLineColours);
  const whole = useMemo(() => {
    const from = Math.min(...runs.map(({ run }) => run.steps.first));
    const to = Math.max(...runs.map(({ run }) => run.steps.last));
    return { from, to: to > from ? to : from + 1 };
  }, [runs]);
  const nameIn = ({ run, report }: Loaded, role: string) => inRole(report, role).find((name) => run.series.some((series) => series.name === name));
  const charts = kGroups
    .flatMap(([, roles]) => roles)
    .map((role) => ({
      role,
      lines: shown.flatMap((group, i): Line[] => {
        const members = group.members.flatMap((member) => {
          const name = nameIn(member, role);
          return name ? [{ run: member.run.id, name }] : [];
        });
        return members.length > 0 ? [{ ...members[0]!, label: `${group.label} (${members.length})`, ink: i, members }] : [];
      }),
    }))
    .filter(({ lines }) => lines.length > 0);
  return (
    <>
      <div class="diagnosis">
        <p class="quiet">Each curve is the mean of its runs; the band goes from the lowest of them to the highest. Behind ± stands the standard deviation over the runs.</p>
        <Table groups={groups} />
        {groups.length > shown.length && <p class="quiet">The charts show the first {shown.length} of {groups.length} groups.</p>}
      </div>
      <div class="charts">
        <Panel kinds={['step']} look={look} axis={axis} view={view} onLook={setLook} onView={setView} />
        {charts.map(({ role, lines }) => (
          <Chart key={role} title={role.replaceAll('-', ' ').replace(/^./, (c) => c.toUpperCase())} lines={lines} axis={axis} whole={whole} view={view} smoothing={look.smoothing} places={[]} levels={[]} revision={revision} onView={setView} />
        ))}
      </div>
    </>
  );
}
