// log.js: the observatory: what is on the log and how far the projections are, verifying them
// against a replay, and (logtail.js) the events of a partition.

import { html, useEffect, useRef, useState } from "../dom.js";
import { useGet } from "../api.js";
import { Failed, Loading, Text, Time, count, plural, size } from "../format.js";
import { lines } from "../ndjson.js";
import { Spark } from "../chartview.js";
import { Brief, Heading, Table, Tabs, word } from "../parts.js";
import { useRenewal } from "../renewal.js";
import { href, useParam } from "../router.js";
import { Events, Rejected } from "./logtail.js";

const tabs = [["", "Overview"], ["rejected", "Rejected"], ["verify", "Verify"]];

export default function Log({ rest, query }) {
  const [topic, partition] = rest.split("/");
  return html`<${Tabs} label="Log" base="log" at=${rest} tabs=${tabs} />
    ${rest === "" ? html`<${Overview} />` : rest === "rejected" ? html`<${Rejected} query=${query} />` : rest === "verify" ? html`<${Verify} />`
      : html`<${Events} key=${rest} topic=${topic} partition=${Number(partition) || 0} query=${query} />`}`;
}

/** Overview shows topics, projections and the disk, and asks again every two seconds. */
function Overview() {
  const topics = useGet("/v1/log"), status = useGet("/v1/status");
  const live = useRenewal(() => { topics.reload(); status.reload(); }, [], topics.error ?? status.error ? 0 : 2);
  const [history, remember] = useState([]);
  const s = status.data;
  useEffect(() => {
    if (s) remember((old) => [...old.slice(-59), Object.fromEntries(s.projections.map((p) => [p.name, p.lag]))]);
  }, [s]);
  if (topics.error ?? status.error) return html`<${Heading}>Log<//><${Failed} error=${topics.error ?? status.error} retry=${() => { topics.reload(); status.reload(); }} />`;
  if (!topics.data || !s) return html`<${Heading}>Log<//><${Loading} />`;
  const all = topics.data.topics;
  const events = all.reduce((n, t) => n + eventsOf(t), 0);
  return html`<${Heading} live=${live}>Log<//>
    <p data-varies>${s.log.kind} log of ${plural(events, "event")}${s.log.bytes !== undefined && html`, ${size(s.log.bytes)}`}; ${s.ready ? html`<span class="good">ready</span>` : html`<span class="warn">catching up</span>`}; ${s.log.rejected > 0 ? html`<a class="bad" href=${href("log/rejected")}>${plural(s.log.rejected, "rejected event")}</a>` : "none rejected"}; since <${Time} at=${s.started} />, pid ${s.pid}, version ${word(s.version)}.</p>
    ${s.log.error && html`<p class="failed"><${Text} value=${s.log.error} /></p>`}
    ${s.log.full && html`<p class="failed">Nothing can be appended: <${Text} value=${s.log.full} /></p>`}
    ${s.log.unread?.length > 0 && html`<p class="failed">Read by no process: ${s.log.unread.map((x) => html`<code>${word(x)}</code> `)}</p>`}
    ${s.erasing && html`<p class="banner">Erasing ${plural(s.erasing.events, "event")}: ${word(s.erasing.phase)}, ${count(s.erasing.done)} of ${count(s.erasing.total)}.</p>`}
    ${events === 0 && html`<p class="empty">The log is empty. To begin: <code>recount exec -- make test</code>, or <code>recount import history</code>.</p>`}
    <h2>Topics</h2>
    <${Table} label="Topics" rows=${all} keyOf=${(t) => t.name} columns=${[
      { name: "topic", of: (t) => html`<a data-item href=${href(`log/${t.name}/${fullest(t).partition}`)}>${word(t.name)}</a>`, by: (t) => t.name },
      { name: "events", num: true, of: (t) => (eventsOf(t) ? count(eventsOf(t)) : html`<span class="dim">0</span>`), by: eventsOf },
      { name: "offsets of each partition", of: (t) => html`<span class="partitions">${t.partitions.map((p) => html`<a href=${href(`log/${t.name}/${p.partition}`)} class=${p.end > p.start ? "" : "dim"} title=${`partition ${p.partition}: offsets ${p.start} to ${p.end}`}><span class="dim">${p.partition}:</span> ${p.start > 0 && html`${count(p.start)}–`}${count(p.end)}</a>`)}</span>` },
    ]} />
    <h2>Projections</h2>
    <${Table} label="Projections" rows=${s.projections} keyOf=${(p) => p.name} columns=${[
      { name: "projection", of: (p) => html`<details class="inline"><summary>${word(p.name)}</summary>${p.partitions.filter((x) => x.end > 0).map((x) => html`<div class=${x.lag ? "warn" : "dim"}>${word(x.topic)}/${x.partition}: ${count(x.next)} of ${count(x.end)}${x.lag > 0 && html`, ${count(x.lag)} behind`}</div>`)}</details>`, by: (p) => p.name },
      { name: "behind", num: true, of: (p) => html`<span class=${p.lag ? "warn" : "good"}>${p.lag ? count(p.lag) : "0"}</span>`, by: (p) => p.lag },
      { name: "the last two minutes", of: (p) => html`<${Spark} values=${history.map((h) => h[p.name] ?? 0)} label=${`how far ${p.name} was behind, up to ${count(Math.max(0, ...history.map((h) => h[p.name] ?? 0)))}`} />` },
      { name: "disk", num: true, of: (p) => (p.bytes === undefined ? "" : html`<span data-varies>${size(p.bytes)}</span>`), by: (p) => p.bytes ?? 0 },
      { name: "generation", of: (p) => html`<span class="dim apart">${word(p.generation ?? "")}</span>` },
    ]} />
    <h2>Disk and spool</h2>
    <dl class="facts" data-varies><div><dt>log</dt><dd>${s.log.bytes === undefined ? html`<span class="dim">kept by ${(s.log.brokers ?? []).map((x) => word(x)).join(", ") || "another server"}</span>` : size(s.log.bytes)}</dd></div>
      <div><dt>projections</dt><dd>${size(s.projections.reduce((n, p) => n + (p.bytes ?? 0), 0))}</dd></div>
      <div><dt>directory</dt><dd><code>${word(s.data_dir)}</code></dd></div>
      <div><dt>spool</dt><dd>${count(s.spool.waiting)} waiting${s.spool.refused > 0 && html`, <span class="bad">${count(s.spool.refused)} refused</span>`}${s.spool.lost > 0 && html`, <span class="bad">${count(s.spool.lost)} lost</span>`}${s.spool.damaged_bytes > 0 && html`, <span class="bad">${size(s.spool.damaged_bytes)} damaged</span>`}${s.spool.fault && html` <span class="bad"><${Text} value=${s.spool.fault} /></span>`}</dd></div>
      ${(s.watch ?? []).map((w) => html`<div><dt>follows</dt><dd>${word(w.path)} ${w.synced && html`<span class="dim">synced <${Time} at=${w.synced} /></span>`}${w.error && html` <span class="bad"><${Text} value=${w.error} /></span>`}</dd></div>`)}</dl>`;
}

const eventsOf = (t) => t.partitions.reduce((n, p) => n + p.end - p.start, 0);
const fullest = (t) => t.partitions.reduce((a, p) => (p.end - p.start > a.end - a.start ? p : a));

/** Verify replays the log beside the live state, on request, and shows both roots. */
function Verify() {
  const [state, set] = useState({});
  const [only, choose] = useParam("projection", "");
  const status = useGet("/v1/status");
  const abort = useRef(null), began = useRef(0);
  const [now, tick] = useState(0); // the server tells of progress by events, which may take long
  useEffect(() => () => abort.current?.abort(), []);
  const run = async () => {
    abort.current?.abort();
    const mine = abort.current = new AbortController();
    began.current = performance.now();
    tick(began.current);
    set({ running: true });
    try {
      for await (const batch of lines("/v1/verify", { method: "POST", body: JSON.stringify(only ? { projections: [only] } : {}), signal: mine.signal })) {
        const last = batch.at(-1);
        if (last.problem) set({ error: { status: last.problem.status, problem: last.problem } });
        else if (last.report) set({ report: last.report });
        else set({ running: true, progress: last.progress });
      }
    } catch (error) { if (!mine.signal.aborted) set({ error }); }
  };
  const { running, progress: p, report: r, error } = state;
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => tick(performance.now()), 500);
    return () => clearInterval(timer);
  }, [running]);
  return html`<${Heading}>Verify<//>
    <p>Replays the log from offset zero beside the live state and compares roots, keys and files. The server goes on answering; it takes about as long as a rebuild.</p>
    <p class="filters"><label>projection<select value=${only} onChange=${(e) => choose(e.target.value)}><option value="">all</option>${(status.data?.projections ?? []).map((x) => html`<option value=${x.name} selected=${x.name === only}>${x.name}</option>`)}</select></label>
      <button type="button" class="primary" disabled=${running} onClick=${run}>Verify</button>${running && html`<button type="button" onClick=${() => { abort.current.abort(); set({}); }}>Stop</button>`}</p>
    ${running && html`<p role="status">${p ? html`${word(p.phase)}: ${count(p.done)} of ${count(p.total)} <span class="dim">${Math.max(0, (now - began.current) / 1000).toFixed(0)} s</span>` : "Beginning…"}</p>${p?.total > 0 && html`<progress value=${p.done} max=${p.total} aria-label="Progress"></progress>`}`}
    ${error && html`<${Failed} error=${error} retry=${run} />`}
    ${r && html`<p role="status" class=${r.ok ? "good" : "bad"}>${r.ok ? "Equal" : "Not equal"}: ${plural(r.events, "event")} replayed in ${(r.elapsed_ms / 1000).toFixed(1)} s.</p>
      <${Table} label="Roots" rows=${r.projections} keyOf=${(x) => x.name} columns=${[
        { name: "projection", of: (x) => word(x.name) }, { name: "result", of: (x) => (x.error ? html`<span class="bad"><${Text} value=${x.error} /></span>` : x.live_root === x.replayed_root ? html`<span class="good">equal</span>` : html`<span class="bad">differs</span>`) },
        { name: "live root", of: (x) => html`<code class="root">${x.live_root}</code>` }, { name: "replayed root", of: (x) => html`<code class="root">${x.replayed_root}</code>` },
        { name: "keys", num: true, of: (x) => count(x.keys) }, { name: "files", num: true, of: (x) => count(x.files) }]} />
      ${r.projections.flatMap((x) => x.differences ?? []).length > 0 && html`<h2>Differences</h2><${Table} label="Differences" rows=${r.projections.flatMap((x) => (x.differences ?? []).map((d) => ({ ...d, of: x.name })))} columns=${[
        { name: "projection", of: (d) => d.of }, { name: "what", of: (d) => d.kind.replaceAll("_", " ") }, { name: "where", of: (d) => html`<code><${Brief} value=${d.file ?? d.key ?? ""} max=${200} /></code> byte ${d.byte}` }, { name: "live", of: (d) => html`<code><${Brief} value=${d.live ?? ""} max=${80} /></code>` }, { name: "replayed", of: (d) => html`<code><${Brief} value=${d.replayed ?? ""} max=${80} /></code>` }]} />`}`}`;
}

