// insights.js: what people and agents run: how much and when, what recurs, what fails and what is
// slow, what usually comes next.

import { html, useMemo } from "../dom.js";
import { useAsk } from "../api.js";
import { Chart } from "../chartview.js";
import { Outcome } from "../commands.js";
import { Failed, Time, count, duration, plural } from "../format.js";
import { Answer, Brief, Choice, Field, Form, Heading, Table, percent, useWorkspace } from "../parts.js";
import { At } from "../proof.js";
import { useRenewal } from "../renewal.js";
import { href } from "../router.js";

const names = ["cwd", "workspace", "session", "host", "author", "user", "program", "category", "since", "until", "exit"];
const begin = html`No command passes these filters. To begin: <code>eval "$(recount hook bash)"</code> in your shell's startup file, or <code>recount import history</code>.`;

export default function Insights({ query }) {
  const filters = Object.fromEntries(names.map((n) => [n, query.get(n)]).filter(([, v]) => v));
  const { workspace, choice } = useWorkspace();
  if (workspace) filters.workspace = workspace;
  const asOf = query.get("as_of") ?? "", moment = asOf ? { as_of: asOf } : {};
  const insights = useAsk("/v1/insights", { filters, limit: 60, ...moment });
  const stats = useAsk("/v1/stats", { filters, limit: 12, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC", ...moment });
  const live = useRenewal(() => { insights.reload(); stats.reload(); }, ["commands"], asOf ? 0 : 15);
  return html`<${Heading} live=${live}>Insights<//>
    <${Form} label="Which commands"><${Field} name="cwd" label="directory" size="20" /><${Field} name="program" label="program" /><${Field} name="author" label="person or agent" /><${Field} name="session" label="session" /><${Field} name="host" label="host" />
      <${Choice} name="category" label="category" options=${[["", "all"], ...["build", "deploy", "debug", "configure", "query", "navigate", "other"].map((c) => [c, c])]} />
      <${Field} name="since" label="since (time)" size="20" /><${Field} name="until" label="until (time)" size="20" /><${Field} name="as_of" label="as of (time)" size="20" /><//>
    ${choice}
    <${Stats} of=${stats} filters=${filters} />
    <${Answer} of=${insights} isEmpty=${(d) => d.commands === 0} empty=${begin}>${(d) => html`<${What} d=${d} filters=${filters} />`}<//>`;
}

const day = 86400e3;

/** Stats shows how much is run, by day, hour and week day, and by program, directory and person. */
function Stats({ of, filters }) {
  if (of.error) return html`<${Failed} error=${of.error} retry=${of.reload} />`;
  const d = of.data;
  if (!d || d.total.runs === 0) return null;
  const days = filled(d.days);
  const stack = (all) => [{ name: "failed", state: "bad", values: all.map((t) => t?.failed ?? 0) }, { name: "good or unknown", values: all.map((t) => (t ? t.runs - (t.failed ?? 0) : 0)) }];
  const rate = days.map((t) => (t ? failing(t) ?? null : null));
  const at = days.map((t, i) => Date.parse(d.days[0].day) + i * day);
  const hours = Array.from({ length: 24 }, (_, i) => new Date(2000, 0, 1, i));
  const list = (title, r, param) => r.entries.length > 0 && html`<section aria-label=${title}><h3>${title} <span class="dim">${count(r.distinct)}</span></h3><${Table} label=${title} rows=${r.entries} keyOf=${(e) => e.name} columns=${[
    { name: "name", of: (e) => html`<a href=${href("insights", { ...filters, [param]: e.name })}><${Brief} value=${e.name} max=${100} /></a>`, by: (e) => e.name }, ...tally]} /></section>`;
  return html`<p>${plural(d.total.runs, "command")} in ${plural(d.sessions, "session")}, ${html`<span class=${d.total.failed ? "bad" : ""}>${plural(d.total.failed ?? 0, "failure")}</span>`}${d.first && html`, <${Time} at=${d.first} absolute /> to <${Time} at=${d.last} absolute />`}${d.untimed > 0 && html`; ${count(d.untimed)} at an unknown time`}</p>
    <div class="charts"><${Chart} title="a day" kind="bars" at=${at} unit=${count} series=${stack(days)} /><${Chart} title="failures, of a day's runs" at=${at} unit=${percent} series=${[{ name: "failures", state: "bad", values: rate }]} />
      <${Chart} title="by hour of the day" kind="bars" at=${hours} unit=${count} series=${stack(d.hours)} /></div>
    <div class="columns">${list("Programs", d.programs, "program")}${list("Directories", d.directories, "cwd")}${list("People", d.people, "user")}${list("Agents", d.agents, "author")}</div>`;
}

/** failing is the part of the runs whose outcome is known that failed. */
const failing = (t) => (t.succeeded + t.failed > 0 ? t.failed / (t.succeeded + t.failed) : undefined);

/** rateOf writes a part that failed: a dash if no outcome is known. */
const rateOf = (part) => (part === undefined ? html`<span title="no outcome is known">–</span>` : part === 0 ? "0" : percent(part));

/** known is the part of a template's runs that failed, if an outcome is known. */
const known = (t) => (t.unknown === t.runs ? undefined : t.failure_rate);

const tally = [
  { name: "runs", num: true, of: (e) => count(e.runs), by: (e) => e.runs },
  { name: "failed", num: true, of: (e) => html`<span class=${e.failed ? "bad" : "dim"}>${rateOf(failing(e))}</span>`, by: (e) => failing(e) ?? 0 },
  { name: "time", num: true, of: (e) => html`<span class="dim">${e.duration_ns ? duration(e.duration_ns) : "–"}</span>`, by: (e) => e.duration_ns ?? 0 },
];

/** filled returns the tallies of every day from the first to the last, at most the last two years. */
function filled(days) {
  if (days.length === 0) return [];
  const by = new Map(days.map((t) => [t.day, t])), out = [];
  const last = Date.parse(days.at(-1).day);
  for (let t = Math.max(Date.parse(days[0].day), last - 730 * day); t <= last; t += day) out.push(by.get(new Date(t).toISOString().slice(0, 10)));
  return out;
}

function What({ d, filters }) {
  const slow = useMemo(() => d.templates.filter((t) => t.example?.duration_ns > 0).sort((a, b) => b.example.duration_ns - a.example.duration_ns).slice(0, 15), [d]);
  return html`
    <div class="columns"><section aria-label="What fails"><h2>What fails <span class="dim">${count(d.failures.length)}</span></h2>
      ${d.failures.length === 0 ? html`<p class="empty">Nothing fails again and again.</p>` : html`<${Table} label="Failures" rows=${d.failures} columns=${[
        { name: "what", of: (f) => html`<a data-item href=${href("why/" + f.example.id)} title="why the newest of them failed"><code><${Brief} value=${f.template} max=${160} /></code></a>${f.signature && html`<div class="dim"><${Brief} value=${f.signature} max=${200} /></div>`}`, by: (f) => f.template },
        { name: "exit", num: true, of: (f) => f.exit_code, by: (f) => f.exit_code }, { name: "runs", num: true, of: (f) => count(f.runs), by: (f) => f.runs },
        { name: "fixed", num: true, of: (f) => count(f.fixed), by: (f) => f.fixed, title: "how often it worked later in the session" }, { name: "last", of: (f) => html`<${Time} at=${f.last} />`, by: (f) => f.last },
        { name: "evidence", of: (f) => html`<${Some} of=${f.evidence} />` }]} />`}</section>
    <section aria-label="What comes next"><h2>What usually comes next</h2>
      ${d.after && html`<p class="dim">after <${Outcome} of=${d.after} /> <a href=${href("command/" + d.after.id)}><code><${Brief} value=${d.after.command} max=${120} /></code></a></p>`}
      ${d.next.length === 0 ? html`<p class="empty">Nothing that was seen often enough.</p>` : html`<ol class="rows">${d.next.map((n) => html`<li><strong>${percent(n.probability)}</strong> <code><${Brief} value=${n.command} max=${160} /></code> <span class="dim">${count(n.times)} of ${count(n.of)} times</span> <${Some} of=${n.evidence} /></li>`)}</ol>`}</section></div>
    <h2>What recurs <span class="dim">${count(d.templates.length)}</span></h2>
    ${d.templates.length > 0 && html`<${Table} label="Templates" sort="by" rows=${d.templates} keyOf=${(t) => t.template} columns=${[
      { name: "template", of: (t) => html`<a data-item href=${href("ask", { q: t.example.command, kind: "commands" })}><code><${Brief} value=${t.template} max=${200} /></code></a>`, by: (t) => t.template },
      { name: "runs", num: true, of: (t) => count(t.runs), by: (t) => t.runs }, { name: "sessions", num: true, of: (t) => count(t.sessions), by: (t) => t.sessions },
      { name: "failed", num: true, of: (t) => html`<span class=${t.failed ? "bad" : "dim"}>${rateOf(known(t))}</span>`, by: (t) => known(t) ?? 0 }, { name: "last", of: (t) => html`<${Time} at=${t.last} />`, by: (t) => t.last },
      { name: "evidence", of: (t) => html`<${Some} of=${t.evidence} />` }]} />`}
    <div class="columns"><section aria-label="Sequences"><h2>What goes together</h2>
      ${d.sequences.length === 0 ? html`<p class="empty">No sequence recurs.</p>` : html`<ol class="rows">${d.sequences.map((q) => html`<li>${q.templates.map((t, i) => html`${i > 0 && html` <span class="dim">→</span> `}<code><${Brief} value=${t} max=${100} /></code>`)} <div class="dim">${plural(q.runs, "time")} in ${plural(q.sessions, "session")}, ${q.lift.toFixed(1)} times as often as by chance <${Some} of=${q.evidence} /></div></li>`)}</ol>`}</section>
    <section aria-label="Slow"><h2>What is slow</h2>
      ${slow.length === 0 ? html`<p class="empty">No duration is known.</p>` : html`<p class="dim">Of what recurs, by the newest run.</p><ol class="rows">${slow.map((t) => html`<li><strong>${duration(t.example.duration_ns)}</strong> <a href=${href("command/" + t.example.id)}><code><${Brief} value=${t.example.command} max=${160} /></code></a> <span class="dim">${plural(t.runs, "run")}</span></li>`)}</ol>`}</section></div>
    ${Object.keys(filters).length > 0 && html`<p><a href="/insights">Without filters</a></p>`}`;
}

/** Some links the first events of a piece of evidence. */
const Some = ({ of }) => html`<span class="dim">${(of ?? []).slice(0, 2).map((p) => html`<${At} position=${p} /> `)}${of?.length > 2 && html`+${count(of.length - 2)}`}</span>`;

