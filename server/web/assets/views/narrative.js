// narrative.js: commands as a timeline: of a session, of what a command is joined to (?id=), or of all.
// Lanes for people and agents, what agents of the session said and did, deploys, commits and failing
// traces; the edges of what is selected. The slider asks the server for what was known at a time. All of
// it is in the address.

import { html, useEffect, useMemo, useRef, useState } from "../dom.js";
import { ask, useAsk, useGet } from "../api.js";
import { CommandList, Outcome } from "../commands.js";
import { Failed, Loading, Text, Time, count, oneLine, plural, when } from "../format.js";
import { useKey } from "../keys.js";
import { useLines } from "../ndjson.js";
import { Answer, useWorkspace, word } from "../parts.js";
import { At, Proof } from "../proof.js";
import { useRenewal } from "../renewal.js";
import { go, href, useParam, withParams } from "../router.js";
import { decode, lanesOf, position } from "../timeline.js";
import { TimelineCanvas, extent, moved, zoomed } from "../timelineview.js";
import { Cause } from "./spanwhy.js";
import { EdgeLine } from "./why.js";

const begin = html`Nothing is recorded yet. To begin: <code>eval "$(recount hook bash)"</code> in your shell's startup file, or <code>recount import history</code>; <code>recount import git .</code> brings commits.`;
const written = 300; // commands in view whose lines are asked for

export default function Narrative({ query }) {
  const asOf = query.get("as_of") ?? "";
  const filters = {};
  for (const name of ["session", "author", "host", "workspace", "cwd", "exit", "category"]) if (query.get(name)) filters[name] = query.get(name);
  const { workspace, choice } = useWorkspace();
  if (workspace) filters.workspace = workspace;
  const moment = asOf ? { as_of: asOf } : {};
  const now = useAsk("/v1/timeline", { filters }); // all of it: the slider's ends
  const then = useAsk("/v1/timeline", asOf ? { filters, ...moment } : null);
  const shown = asOf ? then : now;
  useRenewal(now.reload, ["commands"], asOf ? 0 : 15);
  if (now.error || shown.error) return html`<h1>Narrative</h1><${Failed} error=${now.error ?? shown.error} retry=${shown.reload} />`;
  if (!now.data || !shown.data) return html`<h1>Narrative</h1><${Loading} />`;
  return html`<h1>Narrative${filters.session && html` of session <code><${Text} value=${filters.session} max=${120} /></code>`}${filters.author && html` of <${Text} value=${filters.author} max=${120} />`}</h1>
    <${Filters} query=${query} />${choice}
    <${Drawn} all=${now.data} answer=${shown.data} filters=${filters} moment=${moment} query=${query} loading=${shown.loading} />`;
}

function Filters({ query }) {
  const sessions = useGet("/v1/sessions?kind=commands&limit=200");
  const field = (name, label, list) => html`<label>${label}<input type="text" size="14" list=${list} value=${query.get(name) ?? ""} onChange=${(e) => go(withParams({ [name]: e.target.value.trim(), from: "", to: "" }))} /></label>`;
  return html`<form class="filters" aria-label="Filters" onSubmit=${(e) => e.preventDefault()}>
    ${field("session", "session", "sessions")}${field("author", "author")}${field("workspace", "workspace")}${field("host", "host")}
    <label>outcome<select value=${query.get("exit") ?? ""} onChange=${(e) => go(withParams({ exit: e.target.value }))}><option value="">any</option><option value="fail">failed</option><option value="ok">succeeded</option></select></label>
    <datalist id="sessions">${(sessions.data?.sessions ?? []).map((s) => html`<option value=${s.session}>${word(`${s.author ?? ""} ${s.about ?? ""}`, 80)}</option>`)}</datalist>
  </form>`;
}

function Drawn({ all, answer, filters, moment, query, loading }) {
  const model = useMemo(() => decode(answer), [answer]);
  const ran = useMemo(() => (all.times_ms.length ? extent(decode(all)) : null), [all]);
  const id = query.get("id") ?? "";
  const [trace] = (query.get("sel") ?? "").match(/^[0-9a-f]{32}$/) ?? [""];
  const selected = trace ? "" : query.get("sel") ?? id;
  const stitched = useAsk("/v1/stitch", selected ? { id: selected, nodes: 200, depth: id ? 5 : 2, ...moment } : null);
  const edges = useMemo(() => indexed(model, stitched.data), [model, stitched.data]);
  const commits = useCommits();
  const traces = useFailing(ran);
  const steps = useSteps(filters, moment.as_of);
  // What is drawn at first is when commands ran and traces failed; one can move to the oldest commit.
  const whole = useMemo(() => reach([...(ran ?? commits.map((c) => c.at)), ...traces.map((t) => t.at), ...steps.map((s) => s.at)]) ?? [Date.now() - 3600e3, Date.now()], [ran, traces, commits, steps]);
  const limits = useMemo(() => reach([...whole, ...commits.map((c) => c.at)]), [whole, commits]);
  const range = rangeOf(query, whole, edges, id);
  const lanes = useMemo(() => lanesOf(model), [model]);
  const every = useMemo(() => [...lanes, ...(steps.length ? [{ name: "said and done", kind: "steps" }] : []), ...(commits.length ? [{ name: "commits", kind: "commits" }] : []), ...(traces.length ? [{ name: "failing traces", kind: "traces" }] : [])], [lanes, commits, traces, steps]);
  const marks = useMemo(() => {
    const row = (kind) => every.findIndex((l) => l.kind === kind);
    return [...steps.map((s) => ({ ...s, lane: row("steps") })), ...commits.map((c) => ({ ...c, lane: row("commits") })), ...traces.map((t) => ({ ...t, bad: true, trace: true, lane: row("traces") }))];
  }, [every, commits, traces, steps]);
  const texts = useTexts(model, range, filters, moment);
  const root = stitched.data?.nodes.find((n) => n.id === stitched.data.root);
  const why = useAsk("/v1/runtime/why", trace ? { ref: trace, limit: 20 } : null);
  const blamed = useMemo(() => suspected(trace, why.data, marks, model), [trace, why.data, marks, model]);
  const chosen = trace ? marks.find((m) => m.id === trace) : root ? edges.byId.get(root.id) : undefined;
  const select = (hit) => (hit.mark ? (hit.mark.trace ? go(withParams({ sel: hit.mark.id }), { replace: true }) : go(hit.mark.href)) : go(withParams({ sel: position(model, hit.i) }), { replace: true }));
  const zoom = (f) => setRange(zoomed(range, f, (range[0] + range[1]) / 2, limits));
  useKey("f", "all of it", () => setRange(whole));
  useKey("+", "zoom in", () => zoom(0.6));
  useKey("-", "zoom out", () => zoom(1 / 0.6));
  useKey("h", "earlier", () => setRange(moved(range, (range[0] - range[1]) / 6, limits)));
  useKey("l", "later", () => setRange(moved(range, (range[1] - range[0]) / 6, limits)));
  if (model.n === 0 && all.times_ms.length === 0 && marks.length === 0) return html`<p class="empty">${Object.keys(filters).length > 0 ? "No command passes these filters." : begin}</p>`;
  return html`
    <div class="bar" role="group" aria-label="Range"><button type="button" onClick=${() => zoom(0.6)} aria-label="Zoom in">+</button><button type="button" onClick=${() => zoom(1 / 0.6)} aria-label="Zoom out">−</button><button type="button" onClick=${() => setRange(whole)}>All</button>
      <span class="dim">${when(range[0])} to ${when(range[1])}, ${plural(model.n, "command")}${answer.truncated && " (the newest)"}${answer.untimed > 0 && `, ${count(answer.untimed)} without a time`}</span>${loading && html`<span class="dim" role="status">asking…</span>`}</div>
    <${TimelineCanvas} model=${model} lanes=${every} range=${range} onRange=${setRange} marks=${marks} edges=${trace ? blamed : edges.list} limits=${limits} selected=${chosen} onSelect=${select} texts=${texts.lines} cursor=${moment.as_of && Date.parse(moment.as_of)} />
    <${AsOf} whole=${whole} />
    ${stitched.error && html`<${Failed} error=${stitched.error} />`}
    ${trace && html`<${Failing} id=${trace} of=${why} />`}
    ${root && !trace && html`<${Chosen} root=${root} of=${stitched.data} moment=${moment} />`}
    <section aria-labelledby="in-view"><h2 id="in-view">In view ${texts.hits.length > 0 && html`<span class="dim">${texts.all ? count(texts.hits.length) : `the newest ${count(texts.hits.length)}`}</span>`}</h2>
      <${CommandList} commands=${texts.hits.slice(0, 60)} label="Commands in view" params=${moment} current=${root?.id} />
      ${marks.length > 0 && html`<${Marks} marks=${marks} range=${range} />`}</section>
    <${Proof} of=${answer} />`;
}

/** rangeOf is the range of the address, else that of the narrative of ?id=, else all. */
function rangeOf(query, whole, edges, id) {
  const from = Number(query.get("from")), to = Number(query.get("to"));
  if (from && to > from) return [from, to];
  if (id && edges.span) {
    const pad = Math.max((edges.span[1] - edges.span[0]) * 0.1, 5000);
    return [edges.span[0] - pad, edges.span[1] + pad];
  }
  const pad = (whole[1] - whole[0]) * 0.02;
  return [whole[0] - pad, whole[1] + pad];
}

/** setRange puts a range into the address. */
function setRange([from, to]) {
  go(withParams({ from: Math.round(from), to: Math.round(to) }), { replace: true });
}
/** indexed finds the commands of a narrative among those of the timeline. */
function indexed(model, answer) {
  const byId = new Map(), byPosition = new Map();
  let span = null;
  if (!answer) return { list: [], byId, span };
  for (let i = 0; i < model.n; i++) byPosition.set(position(model, i), i);
  for (const n of answer.nodes) {
    const i = byPosition.get(`${n.position.topic}/${n.position.partition}/${n.position.offset}`);
    if (i === undefined) continue;
    byId.set(n.id, i);
    const end = model.at[i] + Math.max(model.took[i], 0);
    span = span ? [Math.min(span[0], model.at[i]), Math.max(span[1], end)] : [model.at[i], end];
  }
  const list = answer.edges.filter((e) => byId.has(e.from) && byId.has(e.to)).map((e) => ({ from: byId.get(e.from), to: byId.get(e.to), kind: e.kind }));
  return { list, byId, span };
}

/** useTexts asks for the commands in view: all of them if they are few, else the newest. */
function useTexts(model, range, filters, moment) {
  const [held, hold] = useState({ lines: new Map(), hits: [], all: false });
  const [from, to] = range;
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      const since = new Date(Math.max(from, 0)).toISOString(), until = new Date(Math.max(to, 1)).toISOString();
      try {
        const d = await ask("/v1/find", { filters: { ...filters, since, until }, repeats: true, limit: written, ...moment }, abort.signal);
        const byPosition = new Map();
        for (let i = lower(model, from), end = lower(model, to); i < end && end - i < 50000; i++) byPosition.set(position(model, i), i);
        const lines = new Map();
        for (const c of d.hits) {
          const i = byPosition.get(`${c.position.topic}/${c.position.partition}/${c.position.offset}`);
          if (i !== undefined) lines.set(i, c.command);
        }
        hold({ lines, hits: d.hits, all: d.hits.length < written });
      } catch (err) { if (err.name !== "AbortError") hold({ lines: new Map(), hits: [], all: false }); }
    }, 200);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [model, from, to, JSON.stringify(filters), moment.as_of]);
  return held;
}

/** lower is the first command of all lanes at a time or later. */
function lower(model, t) {
  let lo = 0, hi = model.n;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (model.at[mid] < t) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** useCommits are the latest commits of each repository. */
function useCommits() {
  const repos = useGet("/v1/repositories?limit=8"); // those with the newest commits
  useRenewal(repos.reload, ["commits"], repos.error ? 0 : 60);
  const [marks, set] = useState([]);
  const names = (repos.data?.repositories ?? []).map((r) => r.repo + " " + (r.newest?.commit ?? "")).join("\n"); // asked again when one has a newer commit
  useEffect(() => {
    if (!names) return undefined;
    const abort = new AbortController();
    Promise.all(names.split("\n").map((name) => name.slice(0, name.lastIndexOf(" "))).map((repo) => ask("/v1/code/snapshot-log", { repo, limit: 200 }, abort.signal).catch(() => ({ snapshots: [] })))).then((logs) => {
      if (!abort.signal.aborted) set(logs.flatMap((l) => l.snapshots).filter((s) => s.time).map((s) => ({ at: Date.parse(s.time), id: s.commit, title: `${s.commit.slice(0, 10)} ${s.subject ?? ""} (${s.author ?? ""})`, href: href("code", { repo: s.repo, at: s.commit }) })));
    }, () => {});
    return () => abort.abort();
  }, [names]);
  return marks;
}

const none = [];

/** useSteps are what agents said and did in the session that is chosen, besides their commands. */
function useSteps({ session, author, workspace }, asOf) {
  const path = session ? "/v1/objects?" + new URLSearchParams({ session, ...(author && { agent: author }), ...(workspace && { workspace }) }) : null;
  const { value, done } = useLines(path, () => [], (v, o) => {
    if (o.time && v.length < 5000) v.push({ at: Date.parse(o.time), id: o.id, step: true, bad: o.failed, href: href("agents/" + o.id), title: `${(o.event_type ?? "").replaceAll("_", " ")}: ${oneLine(o.title || o.text || "", 160)}` });
  });
  return useMemo(() => (!path || !done ? none : value.filter((s) => !asOf || s.at <= Date.parse(asOf))), [path, value, done, asOf]);
}

/** useFailing are traces that failed, from the examples of the operations that did. */
function useFailing(ran) {
  const traffic = useAsk("/v1/runtime/traffic", { failing: true, limit: 20, ...(ran && { from: new Date(ran[0] - 86400e3).toISOString(), to: new Date(ran[1] + 86400e3).toISOString() }) });
  useRenewal(traffic.reload, ["spans"], traffic.error ? 0 : 60);
  const [marks, set] = useState([]);
  const ids = [...new Set((traffic.data?.operations ?? []).flatMap((o) => o.examples).filter((e) => e.failed && e.trace).map((e) => e.trace))].slice(0, 20).join(",");
  useEffect(() => {
    if (!ids) return undefined;
    const abort = new AbortController();
    Promise.all(ids.split(",").map((trace) => ask("/v1/runtime/trace", { trace, limit: 1 }, abort.signal).catch(() => null))).then((traces) => {
      if (!abort.signal.aborted) set(traces.filter(Boolean).map((t) => ({ at: Date.parse(t.start), title: `trace ${t.trace} (${t.services.join(", ")})`, id: t.trace, href: href("why/" + t.trace) })));
    }, () => {});
    return () => abort.abort();
  }, [ids]);
  return marks;
}

/** AsOf is the slider: what was known at a time. At its end it is now. */
function AsOf({ whole }) {
  const [asOf, set] = useParam("as_of", "");
  const timer = useRef(0);
  const [dragged, drag] = useState(null);
  const steps = 1000, now = asOf ? Math.round(((Date.parse(asOf) - whole[0]) / (whole[1] - whole[0])) * steps) : steps;
  const at = (v) => new Date(whole[0] + ((whole[1] - whole[0]) * v) / steps).toISOString();
  const change = (e) => {
    const v = Number(e.target.value);
    drag(v);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => { drag(null); set(v >= steps ? "" : at(v), true); }, 150);
  };
  const value = dragged ?? now;
  return html`<div class="asof"><label for="as-of">As of</label><input id="as-of" type="range" min="0" max=${steps} value=${value} onInput=${change} aria-valuetext=${value >= steps ? "now" : when(at(value))} />
    <output for="as-of">${value >= steps ? "now" : when(at(value))}</output>${asOf && html`<button type="button" onClick=${() => set("")}>Now</button>`}</div>`;
}

/** Chosen is what is selected: the command and its edges. */
function Chosen({ root, of, moment }) {
  const near = of.edges.filter((e) => e.from === root.id || e.to === root.id);
  const by = new Map(of.nodes.map((n) => [n.id, n]));
  return html`<section class="chosen" aria-label="Selected command">
    <p><${Outcome} of=${root} /> <a data-item href=${href("command/" + root.id, moment)}><code><${Text} value=${oneLine(root.command, 240)} max=${260} /></code></a> <span class="dim"><${Time} at=${root.time} unknown=${root.time_unknown} /></span> <${At} position=${root.position} /> <a href=${href("why/" + root.id, moment)}>why</a> <a href=${href("narrative", { id: root.id, ...moment })}>its narrative</a></p>
    ${near.length > 0 && html`<ul class="near">${near.slice(0, 24).map((e) => { const other = by.get(e.from === root.id ? e.to : e.from); return html`<li key=${e.from + e.to + e.kind}><span class="dim">${e.from === root.id ? "led to" : "after"}</span> ${other && html`<a href=${href("command/" + other.id, moment)}><code><${Text} value=${oneLine(other.command, 120)} max=${140} /></code></a>`}<${EdgeLine} e=${e} /></li>`; })}</ul>`}</section>`;
}

/** suspected are the edges from what is suspected to the trace that failed, among what is drawn. */
function suspected(trace, answer, marks, model) {
  const to = marks.find((m) => m.id === trace);
  if (!to || !answer) return [];
  const at = new Map();
  if (answer.causes.some((c) => c.command)) for (let i = 0; i < model.n; i++) at.set(position(model, i), i);
  return answer.causes.flatMap((c) => {
    const p = c.command?.position;
    const from = p ? at.get(`${p.topic}/${p.partition}/${p.offset}`) : marks.find((m) => m.id === c.commit?.commit);
    return from === undefined ? [] : [{ from, to, kind: "causal" }];
  });
}

/** Failing is a trace that is selected: what is suspected to have led to it. */
function Failing({ id, of }) {
  return html`<section class="chosen" aria-label="Selected trace"><p><span class="bad">◆</span> trace <a data-item href=${href("runtime/trace/" + id)}><code>${id}</code></a> <a href=${href("why/" + id)}>why</a></p>
    <${Answer} of=${of} what="Looking for causes" isEmpty=${(d) => d.causes.length === 0} empty="Nothing that is recorded explains it.">${(d) => html`<ol class="suspects">${d.causes.slice(0, 5).map((c) => html`<li><${Cause} of=${c} /></li>`)}</ol>`}<//></section>`;
}

/** reach is from the least to the greatest of some times, at least a second. */
function reach(times) {
  if (times.length === 0) return null;
  const from = times.reduce((a, b) => Math.min(a, b)), to = times.reduce((a, b) => Math.max(a, b));
  return [from, Math.max(to, from + 1000)];
}

/** Marks lists what is on the timeline besides commands. */
function Marks({ marks, range }) {
  const seen = marks.filter((m) => m.at >= range[0] && m.at <= range[1]).sort((a, b) => b.at - a.at).slice(0, 40);
  return html`<h3>${marks.some((m) => m.step) ? "What agents said and did, commits and failing traces" : "Commits and failing traces"}</h3>${seen.length === 0 ? html`<p class="empty">None in view.</p>` : html`<ol class="rows">${seen.map((m) => html`<li key=${m.href}><span class=${m.bad ? "bad" : "dim"}>◆</span> <a data-item href=${m.trace ? withParams({ sel: m.id }) : m.href} title=${m.trace ? "what is suspected to have led to it" : undefined}><${Text} value=${m.title} max=${200} /></a> <span class="dim"><${Time} at=${new Date(m.at).toISOString()} /></span></li>`)}</ol>`}`;
}
