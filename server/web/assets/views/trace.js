// trace.js: a trace as a waterfall, with the code and the last commit behind each span.

import { html, useMemo } from "../dom.js";
import { useAsk } from "../api.js";
import { Outcome } from "../commands.js";
import { Text, Time, count, plural } from "../format.js";
import { Answer, Brief, Changed, Choice, Field, Form, Heading, Symbol, Table, percent, word } from "../parts.js";
import { At } from "../proof.js";
import { href, useParam } from "../router.js";
import { criticalPath, duration as exact } from "../waterfall.js";
import { Waterfall } from "../waterfallview.js";

const most = 10000;

export default function Trace({ id, query }) {
  const failing = query.get("failing") === "only";
  const answer = useAsk("/v1/runtime/trace", { trace: id, limit: most, ...(failing && { failing }) });
  const [show] = useParam("show", "waterfall");
  return html`<${Heading}>Trace <code>${word(id)}</code><//>
    <${Form} label="Show"><${Choice} name="show" label="as" options=${[["waterfall", "waterfall"], ["table", "table"]]} /><${Choice} name="failing" label="spans" options=${[["", "all"], ["only", "failing only"]]} /><${Field} name="match" label="light up" placeholder="service or operation" /><//>
    <${Answer} of=${answer} what="Reading the spans" isEmpty=${(d) => d.spans.length === 0} empty="No span of it matches.">${(d) => html`<${Shown} d=${d} show=${show} query=${query} />`}<//>`;
}

function Shown({ d, show, query }) {
  const [chosen, choose] = useParam("span", "");
  const index = d.spans.findIndex((s) => s.id === chosen);
  const light = (query.get("match") ?? "").toLowerCase();
  const match = useMemo(() => (light ? (s) => (s.service + " " + s.operation + " " + s.name).toLowerCase().includes(light) : undefined), [light]);
  const span = d.spans[index];
  const first = d.spans.find((s) => s.failed);
  return html`<p>${exact(d.duration_ns)}, ${plural(d.total, "span")}, ${d.services.length} services, ${d.failed > 0 ? html`<span class="bad">${plural(d.failed, "failed span")}</span>` : "none failed"}, <${Time} at=${d.start} />
      ${d.truncated > 0 && html` <span class="warn">${count(d.truncated)} not shown</span>`}
      ${first && html` <a href=${href("runtime/why/" + d.trace)}>Why it failed</a>`}</p>
    ${show === "table" ? html`<${SpanTable} spans=${d.spans} choose=${choose} />` : html`<div class="beside">
      <${Waterfall} spans=${d.spans} selected=${index < 0 ? undefined : index} onSelect=${(i) => choose(d.spans[i].id, true)} match=${match} />
      <aside aria-label="Chosen span">${span ? html`<${Span} span=${span} trace=${d.trace} />` : html`<${Summary} d=${d} choose=${choose} />`}</aside></div>`}
    ${show === "table" && span && html`<${Span} span=${span} trace=${d.trace} />`}
    ${d.deploys.length > 0 && html`<h2>Deployed before</h2><ul class="rows">${d.deploys.map((x) => html`<li><strong>${word(x.service)}</strong> <${Outcome} of=${x.command} /> <a href=${href("command/" + x.command.id)}><code><${Brief} value=${x.command.command} max=${160} /></code></a> <span class="dim">${word(x.about ?? "the newest deploy of all")}, <${Time} at=${x.command.time} /></span></li>`)}</ul>`}`;
}

/** Span is one span in full. */
function Span({ span: s, trace }) {
  return html`<h2><${Brief} value=${s.operation || s.name} max=${200} /></h2>
    <dl class="facts">
      <div><dt>service</dt><dd><a href=${href("runtime", { service: s.service })}>${word(s.service)}</a> ${word(s.version ?? "")}</dd></div>
      <div><dt>time</dt><dd>${exact(s.duration_ns)}${s.clock && html` <span class="warn">it ended before it began</span>`} <span class="dim">${exact(s.offset_ns)} after the start</span></dd></div>
      <div><dt>outcome</dt><dd class=${s.failed ? "bad" : ""}>${s.failed ? "failed" : "good"} ${word(s.status ?? "")} <${Text} value=${s.message ?? ""} max=${400} /></dd></div>
      <div><dt>kind</dt><dd>${s.kind}, ${s.side}${s.peer && html`, of <${Brief} value=${s.peer} max=${100} />`}</dd></div>
      ${s.name !== s.operation && html`<div><dt>name</dt><dd><${Brief} value=${s.name} max=${200} /></dd></div>`}
      <div><dt>code</dt><dd>${s.code?.symbol ? html`<${Symbol} of=${s.code.symbol} /> <span class="dim">by ${s.code.rule}, ${percent(s.code.confidence)} sure</span>` : html`<span class="dim">${word(s.code?.why ?? "not known")}</span>`}</dd></div>
      ${s.changed && html`<div><dt>last change</dt><dd><${Changed} of=${s.changed} /></dd></div>`}
      <div><dt>event</dt><dd><${At} position=${s.position} /></dd></div>
      <div><dt>id</dt><dd><code>${s.id}</code>${s.parent && html` <span class="dim">in <code>${s.parent}</code>${s.missing_parent && " (not recorded)"}</span>`}</dd></div>
    </dl>
    <p><a href=${href("runtime/why/" + trace + "/" + s.id)}>Why ${s.failed ? "it failed" : "it took so long"}</a></p>
    ${s.attributes && html`<h3>Attributes</h3><table class="plain"><tbody>${Object.entries(s.attributes).map(([k, v]) => html`<tr><th scope="row"><code>${word(k)}</code></th><td><${Text} value=${v} max=${400} lines=${12} /></td></tr>`)}</tbody></table>`}`;
}

/** Summary is the trace by service, and its failures. */
function Summary({ d, choose }) {
  const services = useMemo(() => {
    const by = new Map(d.services.map((s) => [s, { spans: 0, failed: 0, critical: 0 }]));
    for (const s of d.spans) {
      const x = by.get(s.service);
      x.spans++;
      if (s.failed) x.failed++;
    }
    for (const [i, pieces] of criticalPath(d.spans)) for (const [a, b] of pieces) by.get(d.spans[i].service).critical += b - a;
    return [...by].sort((a, b) => b[1].critical - a[1].critical);
  }, [d]);
  const failed = d.spans.filter((s) => s.failed);
  return html`<h2>Where the time goes</h2>
    <table><thead><tr><th scope="col">service</th><th scope="col" class="num">spans</th><th scope="col" class="num">failed</th><th scope="col" class="num" title="its own time on the critical path">critical</th></tr></thead>
      <tbody>${services.map(([s, x]) => html`<tr><td>${word(s)}</td><td class="num">${count(x.spans)}</td><td class=${"num " + (x.failed ? "bad" : "dim")}>${count(x.failed)}</td><td class="num">${exact(x.critical)}</td></tr>`)}</tbody></table>
    ${failed.length > 0 && html`<h2>Failed <span class="dim">${count(failed.length)}</span></h2><ol class="rows">${failed.slice(0, 30).map((s) => html`<li><button type="button" class="quiet plain bad" data-item onClick=${() => choose(s.id)}><${Brief} value=${s.service + " " + (s.operation || s.name)} max=${120} /></button> <span class="dim"><${Brief} value=${s.message ?? s.status ?? ""} max=${140} /></span></li>`)}</ol>`}`;
}

function SpanTable({ spans, choose }) {
  return html`<${Table} label="Spans" sort="by" rows=${spans} keyOf=${(s) => s.id} columns=${[
    { name: "start", num: true, of: (s) => exact(s.offset_ns), by: (s) => s.offset_ns },
    { name: "service", of: (s) => word(s.service), by: (s) => s.service },
    { name: "operation", of: (s) => html`<span class="dim">${"· ".repeat(Math.min(s.depth, 12))}</span><button type="button" class="quiet plain" data-item onClick=${() => choose(s.id)}><${Brief} value=${s.operation || s.name} max=${120} /></button>`, by: (s) => s.operation },
    { name: "time", num: true, of: (s) => exact(s.duration_ns), by: (s) => s.duration_ns },
    { name: "outcome", of: (s) => (s.failed ? html`<span class="bad">failed ${word(s.status ?? "")}</span>` : html`<span class="dim">${word(s.status ?? "")}</span>`), by: (s) => (s.failed ? 0 : 1) },
    { name: "code", of: (s) => (s.code?.symbol ? html`<${Symbol} of=${s.code.symbol} place=${false} />` : "") },
  ]} />`;
}

