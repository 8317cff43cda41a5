// proof.js: what an answer rests on.
//
//   html`<${Proof} of=${answer} />`           the watermark, filters and steps of an answer
//   html`<${At} position=${p} />`             a position as a link: it opens the event
//   html`<${EventDialog} />`                  the event named by ?event=, drawn once by the shell
//
// ?event=recount.commands/2/9 is part of the address, so that a piece of evidence can be shared.

import { html, useEffect, useRef } from "./dom.js";
import { useGet } from "./api.js";
import { Failed, Loading, Text, Time, count, plural, positionText, size, when } from "./format.js";
import { go, href, useLocation, withParams } from "./router.js";

/** At is a position that opens its event. */
export function At({ position, children }) {
  if (!position) return null;
  const text = positionText(position);
  return html`<a class="at" href=${withParams({ event: text })} title=${"the event at " + text}>${children ?? text.replace(/^recount\./, "")}</a>`;
}

/**
 * Proof shows what an answer rests on, folded.
 * @param {{of: {watermark?: string, applied_filters?: any[], proof?: any[], proof_trace?: any[], timing?: any, hint?: string}}} props
 */
export function Proof({ of }) {
  if (!of) return null;
  const steps = of.proof ?? of.proof_trace ?? [];
  const total = of.timing?.total_us;
  return html`<details class="proof">
    <summary>How this is known${total !== undefined && html` <span class="dim">${total < 1e6 ? (total / 1000).toFixed(1) + " ms" : (total / 1e6).toFixed(1) + " s"}, ${plural(steps.length, "step")}</span>`}</summary>
    <dl class="facts">
      <div><dt>computed from</dt><dd>${String(of.watermark ?? "").split(",").filter(Boolean).map((w) => html`<code class="mark">${w.replace(/^recount\./, "")}</code> `)}<span class="dim"> everything below these offsets</span></dd></div>
      ${(of.applied_filters ?? []).length > 0 && html`<div><dt>filters</dt><dd>${of.applied_filters.map((f) => html`<code>${f.field} ${f.op} <${Text} value=${f.value} max=${200} /></code> `)}</dd></div>`}
    </dl>
    <ol class="steps">${steps.map((s) => html`<li><${Step} step=${s} /></li>`)}</ol>
  </details>`;
}

function Step({ step }) {
  const hits = step.hits ?? [];
  const shown = hits.slice(0, 12);
  return html`<strong>${step.operator}</strong>
    ${Object.entries(step.inputs ?? {}).map(([k, v]) => html` <span class="pair"><span class="dim">${k}</span> <${Text} value=${String(v)} max=${200} /></span>`)}
    ${Object.entries(step.counts ?? {}).map(([k, v]) => html` <span class="pair"><span class="dim">${k}</span> ${count(v)}</span>`)}
    ${shown.length > 0 && html`<div class="hits">${shown.map((e) => html`<span><${At} position=${e.position} />${e.rank ? html` <span class="dim">#${e.rank}</span>` : ""}${e.score ? html` <span class="dim">${e.score.toPrecision(3)}</span>` : ""}</span>`)}
      ${hits.length > shown.length && html`<span class="dim">and ${count(hits.length - shown.length)} more</span>`}</div>`}`;
}

/** EventDialog shows the event that ?event= names. */
export function EventDialog() {
  const { query } = useLocation();
  const at = query.get("event");
  const dialog = useRef(null);
  useEffect(() => {
    const d = dialog.current;
    if (at && !d.open) d.showModal();
    if (!at && d.open) d.close();
  }, [at]);
  const close = () => { if (new URLSearchParams(location.search).has("event")) go(withParams({ event: "" })); };
  return html`<dialog ref=${dialog} class="event" aria-labelledby="event-title" onClose=${close} onClick=${(e) => e.target === dialog.current && close()}>
    <div class="dialog-body">
      <header><h2 id="event-title">Event <code>${at}</code></h2><button type="button" onClick=${close} aria-label="Close">✕</button></header>
      ${at && html`<${StoredEvent} at=${at} />`}
    </div>
  </dialog>`;
}

function StoredEvent({ at }) {
  const path = at.split("/").map(encodeURIComponent).join("/");
  const { data: e, error, loading, reload } = useGet("/v1/events/" + path);
  if (error) return html`<${Failed} error=${error} retry=${reload} />`;
  if (loading || !e) return html`<${Loading} what="Reading the log" />`;
  const payload = e.payload !== undefined ? JSON.stringify(e.payload, null, 2) : e.payload_base64 ?? "";
  return html`
    <dl class="facts">
      <div><dt>topic</dt><dd><code>${e.position.topic}</code> partition <code>${e.position.partition}</code> offset <code>${e.position.offset}</code></dd></div>
      ${e.type && html`<div><dt>type</dt><dd><code>${e.type}</code> <span class="dim">from</span> <${Text} value=${e.source} max=${200} /></dd></div>`}
      ${e.id && html`<div><dt>id</dt><dd><code>${e.id}</code></dd></div>`}
      ${e.time && html`<div><dt>happened</dt><dd>${when(e.time)} <span class="dim">(<${Time} at=${e.time} />)</span></dd></div>`}
      <div><dt>appended</dt><dd>${when(e.appended)}</dd></div>
      ${e.key && html`<div><dt>key</dt><dd><${Text} value=${e.key} max=${300} /></dd></div>`}
      ${e.error && html`<div><dt>no event</dt><dd class="bad"><${Text} value=${e.error} /></dd></div>`}
      ${e.erased && html`<div><dt>erased</dt><dd>by <code>${positionText(e.erased.by)}</code></dd></div>`}
      <div><dt>bytes</dt><dd><a href=${href(`log/${e.position.topic}/${e.position.partition}`, { from: e.position.offset, open: e.position.offset })}>in the log, with its neighbours</a></dd></div>
    </dl>
    <h3>Headers</h3>
    <table class="plain"><tbody>${Object.entries(e.headers ?? {}).map(([k, v]) => html`<tr><th scope="row"><code>${k}</code></th><td><${Text} value=${v} max=${500} /></td></tr>`)}</tbody></table>
    <h3>Payload <span class="dim">${size(payload.length)}${e.payload === undefined ? ", in base64" : ""}</span></h3>
    <pre class="payload" tabindex="0"><${Text} value=${payload} max=${8000} /></pre>`;
}

