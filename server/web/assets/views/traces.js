// traces.js: the newest traces, the failing ones or the slow ones, to look into.

import { html } from "../dom.js";
import { useAsk } from "../api.js";
import { Time, count, duration, plural } from "../format.js";
import { Answer, Brief, Choice, Field, Form, Heading, Table, word } from "../parts.js";
import { useRenewal } from "../renewal.js";
import { href } from "../router.js";

const limit = 100;

export default function Traces({ query }) {
  const of = (name) => (query.get(name) ? { [name]: query.get(name) } : {});
  const which = query.get("which") ?? "", longer = Number(query.get("longer"));
  const answer = useAsk("/v1/runtime/traces", { limit, ...of("from"), ...of("to"), ...of("service"), ...of("operation"), ...(which === "failing" && { failing: true }), ...(which === "slow" && { slow: true }), ...(longer > 0 && { longer_ns: Math.round(longer * 1e6) }) });
  const live = useRenewal(answer.reload, ["spans"], query.get("to") || answer.error ? 0 : 15);
  return html`<${Heading} live=${live}>Traces<//>
    <${Form} label="Which"><${Choice} name="which" label="traces" options=${[["", "newest first"], ["failing", "failing only"], ["slow", "slowest first"]]} /><${Field} name="service" label="service" /><${Field} name="operation" label="operation" size="20" />
      <${Field} name="longer" label="at least (ms)" size="8" /><${Field} name="from" label="from (time)" size="20" /><${Field} name="to" label="until (time)" size="20" /><//>
    <${Answer} of=${answer} isEmpty=${(d) => d.traces.length === 0} empty="No trace matches.">${(d) => html`<${Table} label="Traces" rows=${d.traces} keyOf=${(t) => t.trace} columns=${[
      { name: "trace", of: (t) => html`<a data-item class=${t.failed ? "bad" : ""} href=${href("runtime/trace/" + t.trace)} title=${"trace " + t.trace}>${t.failed ? "✗ " : ""}<${Brief} value=${t.service + " " + t.operation} max=${120} /></a>`, by: (t) => t.service + " " + t.operation },
      { name: "start", of: (t) => html`<${Time} at=${t.start} />`, by: (t) => t.start }, { name: "took", num: true, of: (t) => duration(t.duration_ns), by: (t) => t.duration_ns },
      { name: "spans", num: true, of: (t) => count(t.spans), by: (t) => t.spans }, { name: "failed", num: true, of: (t) => html`<span class=${t.failed ? "bad" : "dim"}>${count(t.failed)}</span>`, by: (t) => t.failed },
      { name: "longest span that matches", of: ({ trace, service, operation, match: m }) => (m.service !== service || m.operation !== operation) && html`<a class=${m.failed ? "bad" : ""} href=${href("runtime/trace/" + trace, { span: m.span })}><${Brief} value=${m.service + " " + m.operation} max=${80} /></a> <span class="dim">${duration(m.duration_ns)}</span>` },
      { name: "services", of: (t) => html`<span title=${t.services.slice(0, 40).map((s) => word(s)).join(", ")}>${plural(t.services.length, "service")}</span>`, by: (t) => t.services.length },
      { name: "why", of: (t) => (t.failed || which === "slow") && html`<a href=${href("runtime/why/" + t.trace)}>why</a>` }]} />
      ${d.looked_back_to ? html`<p class="dim">Looked at the newest spans, back to <${Time} at=${d.looked_back_to} absolute />.</p>` : d.more && html`<p class="dim">There are more.</p>`}`}<//>`;
}
