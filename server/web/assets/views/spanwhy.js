// spanwhy.js: what led to a failing or slow span: the suspects, each with its evidence.

import { html } from "../dom.js";
import { useAsk } from "../api.js";
import { CommandList } from "../commands.js";
import { Text, Time, plural } from "../format.js";
import { Answer, Brief, Changed, Choice, Form, Heading, Symbol, percent, word } from "../parts.js";
import { href } from "../router.js";
import { duration as exact } from "../waterfall.js";

export default function SpanWhy({ id, query }) {
  const days = Number(query.get("days")) || 0;
  const answer = useAsk("/v1/runtime/why", { ref: id, limit: 50, ...(days > 0 && { days }) });
  return html`<${Heading}>Why <code>${word(id)}</code><//>
    <${Form} label="How far back"><${Choice} name="days" label="days before" options=${[["", "as usual"], ["1", "1"], ["7", "7"], ["30", "30"], ["365", "365"]]} /><//>
    <${Answer} of=${answer} what="Looking for causes">${(d) => html`
      <h2>The way to it</h2><ol class="rows">${d.way.map((s, i) => html`${i === 20 && d.way_truncated > 0 && html`<li class="dim">${plural(d.way_truncated, "more span")}</li>`}<li><span class="dim">${"· ".repeat(Math.min(s.depth, 12))}</span><a data-item href=${href("runtime/trace/" + d.trace, { span: s.id })}><${Brief} value=${s.service + " " + (s.operation || s.name)} max=${160} /></a> ${s.failed && html`<span class="bad">failed ${word(s.status ?? "")}</span>`} <span class="dim">${exact(s.duration_ns)}</span> ${s.message && html`<div class="dim"><${Text} value=${s.message} max=${240} /></div>`}</li>`)}</ol>
      ${d.slow && html`<p>It took ${exact(d.slow.duration_ns)}; usual is ${exact(d.slow.usual_ns)}.</p>`}
      ${d.subject && html`<p>${word(d.subject.service)} ${word(d.subject.operation)}: ${plural(d.subject.errors, "error")} in ${plural(d.subject.count, "request")}${d.subject.failing_since && html`, failing since <${Time} at=${d.subject.failing_since} />`}. ${d.subject.code?.symbol && html`<${Symbol} of=${d.subject.code.symbol} />`}</p>`}
      <h2>Suspects</h2>
      <p class="dim">That nothing recorded explains it: ${percent(d.unexplained)}.</p>
      ${d.causes.length === 0 ? html`<p class="empty">Nothing that is recorded explains it.</p>` : html`<ol class="suspects">${d.causes.map((c) => html`<li><${Cause} of=${c} /></li>`)}</ol>`}
      ${d.truncated > 0 && html`<p class="dim">${plural(d.truncated, "more")}.</p>`}`}<//>`;
}

/** Cause is one suspect with its evidence. */
export function Cause({ of: c }) {
  return html`<div class="suspect"><strong class="score">${percent(c.score)}</strong><div>
    <p><span class="tag">${c.kind}</span> ${c.commit && html`<${Changed} of=${c.commit} />`}${c.version && html`version ${word(c.version.version || c.version.revision || "")} `}${c.dependency && html`<${Brief} value=${c.dependency.service ?? c.dependency.name} max=${120} />`} ${!c.commit && html`<span class="dim"><${Time} at=${c.time} /></span>`}</p>
    ${c.command && html`<${CommandList} commands=${[c.command]} label="The command" />`}
    ${c.symbol && html`<p><${Symbol} of=${c.symbol} />${c.distance > 0 && html` <span class="dim">${plural(c.distance, "call")} away</span>`}</p>`}
    ${c.files?.length > 0 && html`<p class="dim">${c.files.slice(0, 8).map((f) => html`<code>${word(f)}</code> `)}</p>`}
    <ul class="evidence">${c.evidence.map((e) => html`<li><span class="dim">${e.weight >= 0 ? "+" : "−"}${Math.abs(e.weight).toFixed(2)} ${word(e.rule)}</span> <${Text} value=${e.shows} max=${240} /></li>`)}</ul></div></div>`;
}

