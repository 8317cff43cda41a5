// runtime.js: what runs: the map of services, their calls and operations with rates, errors and
// latencies, and how these went over time. Traces, causes and routes that are never called have
// modules of their own.

import { html, useEffect, useMemo, useState } from "../dom.js";
import { useAsk } from "../api.js";
import { Chart } from "../chartview.js";
import { Failed, Loading, Time, count, duration, plural } from "../format.js";
import { Graph } from "../graphview.js";
import { Answer, Brief, Choice, Field, Form, Heading, Symbol, Table, Tabs, percent, word } from "../parts.js";
import { useRenewal } from "../renewal.js";
import { go, href, useParam, withParams } from "../router.js";

const parts = { traces: () => import("./traces.js"), trace: () => import("./trace.js"), why: () => import("./spanwhy.js"), dead: () => import("./dead.js") };
const tabs = [["", "Services"], ["traces", "Traces"], ["dead", "Routes never called"]];

export default function Runtime({ rest, query }) {
  const [part, id] = rest.split(/\/(.*)/s);
  const [loaded, set] = useState({});
  useEffect(() => {
    let here = true;
    parts[part]?.().then((m) => here && set({ part, component: m.default }), (error) => here && set({ part, error }));
    return () => { here = false; };
  }, [part]);
  return html`<${Tabs} label="Runtime" base="runtime" at=${part} tabs=${tabs} />
    ${part === "" ? html`<${Services} query=${query} />` : !parts[part] ? html`<${Heading}>No such page<//>`
      : loaded.part === part && loaded.error ? html`<${Failed} error=${loaded.error} />`
      : loaded.part === part && loaded.component ? html`<${loaded.component} id=${id ?? ""} query=${query} />` : html`<${Loading} />`}`;
}

/** beginSpans says how spans get in. */
export const beginSpans = html`No span has come in yet. To begin: send OTLP to this server (port 4317 for gRPC, 4318 for HTTP), or <code>recount import otlp FILE</code>, or <code>recount import access-log FILE</code>.`;

/** useWindow is the range of time in the address, as a request has it. */
function useWindow(query) {
  const from = query.get("from") ?? "", to = query.get("to") ?? "";
  return useMemo(() => ({ ...(from && { from }), ...(to && { to }) }), [from, to]);
}

function Services({ query }) {
  const range = useWindow(query);
  const [service, setService] = useParam("service", ""), [operation] = useParam("operation", ""), [order] = useParam("order", "");
  const [show] = useParam("show", "map");
  const map = useAsk("/v1/runtime/services", { ...range, limit: 5000 });
  const stats = useAsk("/v1/runtime/stats", range);
  const traffic = useAsk("/v1/runtime/traffic", { ...range, limit: 1000, ...(service && { service }), ...(operation && { operation }), ...(order === "failing" && { failing: true }), ...(order === "slow" && { slow: true }) });
  const series = useAsk("/v1/runtime/series", { ...range, buckets, ...(service && { service }), ...(operation && { operation }) });
  const graph = useMemo(() => map.data && serviceGraph(map.data), [map.data]);
  const live = useRenewal(() => { map.reload(); stats.reload(); traffic.reload(); series.reload(); }, ["spans"], range.to || map.error ? 0 : 15);
  const s = stats.data;
  const chosen = map.data?.services.find((x) => x.name === service);
  return html`<${Heading} live=${live}>Runtime<//>
    <${Form} label="Range and filters"><${Field} name="from" label="from (time)" size="20" placeholder=${s?.first ?? ""} /><${Field} name="to" label="until (time)" size="20" placeholder=${s?.last ?? ""} />
      <${Field} name="service" label="service" list=${map.data?.services.map((x) => x.name) ?? []} /><${Field} name="operation" label="operation" size="20" />
      <${Choice} name="order" label="operations" options=${[["", "busiest first"], ["failing", "failing only"], ["slow", "slowest first"]]} /><${Choice} name="show" label="services as" options=${[["map", "map"], ["table", "table"]]} /><${OpenTrace} /><//>
    ${s && s.services + s.outside > 0 && html`<p>${plural(s.services, "service")}${s.outside > 0 && html`, ${count(s.outside)} more called`}; ${plural(s.served, "request")}, ${s.errors > 0 ? html`<span class="bad">${plural(s.errors, "error")}</span>` : "no error"}; ${plural(s.spans, "span")} in all, <${Time} at=${s.first} absolute /> to <${Time} at=${s.last} absolute />; ${percent(s.joined_share)} of the operations joined to code.</p>
      <p class="links" aria-label="Range">${ranges.map(([name, ms]) => html`<a href=${withParams({ from: ms ? new Date(Date.parse(s.last) - ms).toISOString() : "", to: "" })}>${name}</a>`)}</p>`}
    <${Answer} of=${map} isEmpty=${(d) => d.services.length === 0} empty=${beginSpans}>${(d) => html`
      ${show === "map" ? html`<${Graph} graph=${graph} label="Service map" open=${none} selected=${service || undefined} height=${graph.nodes.length > 6 ? "map" : "small"}
        onSelect=${(i) => setService(i ? i.nodes[0].name : "", true)} onEnter=${(i) => go(href("runtime", { service: i.nodes[0].name, show }))} legend=${[["bad", "more than 1% fails"], ["old", "sends no spans"]]} />`
        : html`<${ServiceTable} d=${d} />`}`}<//>
    ${map.data?.services.length > 0 && html`<${OverTime} series=${series} service=${service} />`}
    ${chosen && html`<${Service} of=${chosen} calls=${map.data.calls} />`}
    ${map.data?.services.length > 0 && html`<h2>Operations ${traffic.data && html`<span class="dim">${count(traffic.data.total)}</span>`}</h2>
      <${Answer} of=${traffic} isEmpty=${(d) => d.operations.length === 0} empty="No operation matches.">${(d) => html`<${Operations} of=${d.operations} />${d.truncated > 0 && html`<p class="dim">${count(d.truncated)} more.</p>`}`}<//>`}`;
}

// These ranges end at the newest span.
const ranges = [["last hour", 3600e3], ["last day", 86400e3], ["last week", 7 * 86400e3], ["all", 0]];

const none = new Set();

/** serviceGraph returns the map as a graph: services, and their calls with rate and p95. */
function serviceGraph(d) {
  const id = (name, outside) => (outside ? "outside " : "") + name;
  const nodes = d.services.map((s) => ({ id: id(s.name, s.outside), name: s.name, label: s.name, title: `${s.name}: ${s.count} calls, ${s.errors} errors`, state: s.count > 0 && s.errors / s.count > 0.01 ? "bad" : s.outside ? "old" : "" }));
  const known = new Set(nodes.map((n) => n.id)), calls = new Map();
  for (const c of d.calls) {
    const key = id(c.caller, false) + "\n" + id(c.callee, c.outside), old = calls.get(key);
    if (!old) calls.set(key, { from: id(c.caller, false), to: id(c.callee, c.outside), count: c.count, errors: c.errors, p95: c.p95_ns });
    else { old.count += c.count; old.errors += c.errors; old.p95 = Math.max(old.p95, c.p95_ns); }
  }
  const edges = [...calls.values()].filter((c) => known.has(c.from) && known.has(c.to)).map((c) => ({ ...c, label: `${count(c.count)}× ${duration(c.p95)}`, weight: c.count, state: c.count > 0 && c.errors / c.count > 0.01 ? "bad" : "" }));
  return { nodes, edges };
}

function ServiceTable({ d }) {
  const calls = (name) => d.calls.filter((c) => c.callee === name);
  return html`<${Table} label="Services" sort="by" rows=${d.services} keyOf=${(s) => (s.outside ? "outside " : "") + s.name} columns=${[
    { name: "service", of: (s) => html`<a data-item href=${href("runtime", { service: s.name, show: "table" })}><${Brief} value=${s.name} max=${100} /></a>${s.outside && html` <span class="tag">sends no spans</span>`}`, by: (s) => s.name },
    { name: "requests", num: true, of: (s) => count(s.count), by: (s) => s.count }, { name: "errors", num: true, of: (s) => html`<span class=${s.errors ? "bad" : "dim"}>${count(s.errors)}</span>`, by: (s) => s.errors },
    { name: "rate", num: true, of: (s) => (s.count ? percent(s.errors / s.count) : ""), by: (s) => (s.count ? s.errors / s.count : 0) },
    { name: "called by", of: (s) => [...new Set(calls(s.name).map((c) => word(c.caller)))].join(", ") },
    { name: "last seen", of: (s) => s.last && html`<${Time} at=${s.last} />`, by: (s) => s.last ?? "" },
    { name: "repository", of: (s) => (s.home ? html`<a href=${href("code", { repo: s.home.repo })}>${word(s.home.repo)}</a>` : html`<span class="dim">not known</span>`) },
  ]} />`;
}

/** Service is one service: its versions, where it is from, and its calls. */
function Service({ of: s, calls }) {
  const out = calls.filter((c) => c.caller === s.name), into = calls.filter((c) => c.callee === s.name);
  const list = (all, other) => html`<${Table} label=${other === "callee" ? "Calls" : "Called by"} rows=${all} columns=${[
    { name: other === "callee" ? "calls" : "called by", of: (c) => html`<a href=${href("runtime", { service: c[other] })}><${Brief} value=${c[other]} max=${80} /></a> <span class="dim">${c.kind}</span>`, by: (c) => c[other] },
    ...measures,
    { name: "example", of: (c) => html`<${Examples} of=${c.examples} />` }]} />`;
  return html`<h2><${Brief} value=${s.name} max=${100} /></h2>
    <p>${s.home ? html`built from <a href=${href("code", { repo: s.home.repo })}>${word(s.home.repo)}</a> <span class="dim">${word(s.home.dir ?? "")}, by ${s.home.rule}: <${Brief} value=${s.home.evidence} max=${120} /></span>` : html`<span class="dim">${s.outside ? "It sends no spans; what is known of it comes from its callers." : "Its repository is not known."}</span>`}</p>
    ${s.versions?.length > 0 && html`<p>${s.versions.slice(0, 6).map((v) => html`<span class="tag" title=${v.revision}>${word(v.version || v.revision?.slice(0, 10) || "no version")}${v.environment ? " " + word(v.environment) : ""} ×${v.instances}</span> `)}</p>`}
    <div class="columns">${into.length > 0 && html`<section aria-label="Called by">${list(into, "caller")}</section>`}${out.length > 0 && html`<section aria-label="Calls">${list(out, "callee")}</section>`}</div>`;
}

const measures = [
  { name: "count", num: true, of: (c) => count(c.count), by: (c) => c.count },
  { name: "errors", num: true, of: (c) => html`<span class=${c.errors ? "bad" : "dim"}>${c.errors ? `${count(c.errors)} (${percent(c.error_rate)})` : "0"}</span>`, by: (c) => c.error_rate },
  { name: "p50", num: true, of: (c) => duration(c.p50_ns), by: (c) => c.p50_ns },
  { name: "p95", num: true, of: (c) => duration(c.p95_ns), by: (c) => c.p95_ns },
  { name: "p99", num: true, of: (c) => duration(c.p99_ns), by: (c) => c.p99_ns },
];

function Operations({ of }) {
  return html`<${Table} label="Operations" sort="by" rows=${of} keyOf=${(o) => o.service + "\n" + o.kind + "\n" + o.operation} columns=${[
    { name: "operation", of: (o) => html`<a data-item href=${href("runtime", { service: o.service, operation: o.operation })}><${Brief} value=${o.operation} max=${140} /></a>`, by: (o) => o.operation },
    { name: "service", of: (o) => html`<${Brief} value=${o.service} max=${60} />`, by: (o) => o.service }, ...measures,
    { name: "code", of: (o) => (o.code?.symbol ? html`<${Symbol} of=${o.code.symbol} place=${false} />` : html`<span class="dim" title=${o.code?.why}>not joined</span>`) },
    { name: "traces", of: (o) => html`<${Examples} of=${o.examples} />` },
    { name: "last", of: (o) => html`<${Time} at=${o.last} />`, by: (o) => o.last },
  ]} />`;
}

/** Examples links traces: those that failed, and slow ones. */
function Examples({ of }) {
  return html`<span class="apart">${(of ?? []).slice(0, 3).map((e) => html`<a class=${e.failed ? "bad" : ""} href=${href("runtime/trace/" + e.trace, { span: e.span })} title=${"trace " + e.trace}>${e.failed ? "✗ " : ""}${duration(e.duration_ns)}</a> `)}</span>`;
}

function OpenTrace() {
  return html`<label>trace<input type="text" size="14" placeholder="32 digits" spellcheck="false" autocomplete="off" maxlength="64" onChange=${(e) => { const id = e.target.value.trim().toLowerCase(); if (/^[0-9a-f]{32}$/.test(id)) go(href("runtime/trace/" + id)); }} /></label>`;
}

const buckets = 24;

/** OverTime shows how rates, errors and latencies went, by buckets of the range. */
function OverTime({ series, service }) {
  const [, setTo] = useParam("to", ""), [, setFrom] = useParam("from", "");
  if (series.error) return html`<${Failed} error=${series.error} retry=${series.reload} />`;
  if (!series.data) return html`<${Loading} what="Adding up" />`;
  const list = series.data.buckets;
  if (list.length === 0) return null;
  const at = list.map((b) => Date.parse(b.from)), each = bucketName(Date.parse(list[0].to) - at[0]);
  const pick = (i) => { setFrom(list[i].from, true); setTo(list[i].to); };
  const known = (name) => list.map((b) => (b.count ? b[name] : null));
  return html`<div class=${"charts" + (series.loading ? " renewing" : "")}>
    <${Chart} title=${`requests${service ? " of " + word(service) : ""}, each ${each}`} kind="bars" at=${at} unit=${count} onPick=${pick}
      series=${[{ name: "failed", state: "bad", values: list.map((b) => b.errors) }, { name: "good", values: list.map((b) => b.count - b.errors) }]} />
    <${Chart} title="errors" at=${at} unit=${percent} onPick=${pick} series=${[{ name: "errors", state: "bad", values: known("error_rate") }]} />
    <${Chart} title="latency" at=${at} unit=${duration} onPick=${pick}
      series=${[{ name: "p50", values: known("p50_ns") }, { name: "p95", state: "warn", values: known("p95_ns") }, { name: "p99", state: "bad", values: known("p99_ns") }]} />
  </div>`;
}

const bucketName = (ms) => (ms < 2 * 86400e3 ? duration(ms * 1e6) : Math.round(ms / 86400e3) + " days");
