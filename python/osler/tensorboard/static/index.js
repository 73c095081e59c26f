// The tab "Osler": a list of runs, the worst first, and the report on the chosen one. Written without any library.

const REFRESH_MILLISECONDS = 5000;
const INKS = {
  critical: '#d93025', warning: '#c77700', healthy: '#1e8e3e', 'insufficient-data': '#6b7280', unreadable: '#6b7280',
  examining: '#6b7280',
};

const STYLE = `
  html { color-scheme: light; }
  html.dark { color-scheme: dark; }
  body { margin: 0; font: 13px/1.45 system-ui, sans-serif; background: #fff; color: #1f2328; }
  html.dark body { background: #303030; color: #e8e8e8; }
  #osler { display: grid; grid-template-columns: minmax(220px, 320px) 1fr; height: 100vh; }
  #runs { overflow-y: auto; border-right: 1px solid rgba(128, 128, 128, .3); margin: 0; padding: 8px; list-style: none; }
  #runs button { display: block; width: 100%; text-align: left; font: inherit; color: inherit; background: none; border: 0;
    border-left: 4px solid; border-radius: 3px; padding: 6px 8px; margin: 0 0 4px; cursor: pointer; }
  #runs button:hover { background: rgba(128, 128, 128, .12); }
  #runs button[aria-current=true] { background: rgba(128, 128, 128, .22); }
  #runs .name { font-weight: 600; overflow-wrap: anywhere; }
  #runs .headline { opacity: .8; display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
  #side { overflow-y: auto; }
  #report { padding: 12px 20px 40px; }
  #message { opacity: .8; padding: 12px; }
  @media (max-width: 700px) { #osler { grid-template-columns: 1fr; grid-template-rows: 30vh 1fr; } }
`;

/** TensorBoard tells its plugins nothing of its theme, but its page is there to be looked at. */
function followTheme() {
  let dark = false;
  try {
    dark = window.parent.document.body.classList.contains('dark-mode');
  } catch {
    // Another origin: then light.
  }
  document.documentElement.classList.toggle('dark', dark);
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** What was chosen, and which list and which version of a report are shown. */
const state = {chosen: null, listed: '', shown: ''};

function runButton(run) {
  const button = element('button', {type: 'button', title: run.headline},
      element('div', {className: 'name', textContent: run.name}),
      element('div', {className: 'headline', textContent: `${run.status.replace('-', ' ')}: ${run.headline}`}));
  button.style.borderColor = INKS[run.status] ?? INKS.examining;
  button.dataset.status = run.status;
  button.setAttribute('aria-current', String(run.name === state.chosen));
  button.addEventListener('click', () => {
    state.chosen = run.name;
    refresh();
  });
  return element('li', {}, button);
}

async function showReport(run) {
  const version = `${run.name}\n${run.version}`;
  if (version === state.shown) return;
  const report = document.getElementById('report');
  if (run.status === 'examining' || run.status === 'unreadable') {
    report.replaceChildren(element('p', {textContent: run.headline || 'Being examined…'}));
    state.shown = version;
    return;
  }
  const answer = await fetch(`report?run=${encodeURIComponent(run.name)}`);
  if (!answer.ok || run.name !== state.chosen) return;
  // The server makes this HTML and escapes every word of the log in it; scripts in it would not be run anyway.
  report.innerHTML = await answer.text();
  state.shown = version;
}

function say(words) {
  const message = document.getElementById('message');
  message.textContent = words;
  message.hidden = !words;
}

async function refresh() {
  followTheme();
  let told;
  try {
    const answer = await fetch('runs');
    if (!answer.ok) throw new Error(`${answer.status}`);
    told = await answer.json();
  } catch (error) {
    say(`TensorBoard does not answer (${error.message}); what is shown may be old.`);
    return;
  }
  const nothing = told.runs.length ? '' : 'Looking for runs that Osler can read…';
  say(told.trouble || nothing);
  const chosen = told.runs.find((run) => run.name === state.chosen) ?? told.runs[0];
  state.chosen = chosen?.name ?? null;
  const listed = JSON.stringify([told.runs, state.chosen]);
  if (listed !== state.listed) {  // else whoever is on the list with the keyboard would lose his place
    document.getElementById('runs').replaceChildren(...told.runs.map(runButton));
    state.listed = listed;
  }
  if (chosen) await showReport(chosen);
}

export async function render() {
  document.head.append(element('style', {textContent: STYLE}));
  document.body.append(element('div', {id: 'osler'},
      element('ul', {id: 'runs'}),
      element('div', {id: 'side'}, element('div', {id: 'message', hidden: true}), element('div', {id: 'report'}))));
  await refresh();
  setInterval(() => {
    if (!document.hidden) refresh();
  }, REFRESH_MILLISECONDS);
}
