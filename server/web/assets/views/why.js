// why.js: the causal tree of a failure. For a command, the commands that led to it, ranked, and the
// edges between them, each with its evidence; for a trace or a span, the suspects (spanwhy.js).

import { html, useMemo } from "../dom.js";
import { useAsk } from "../api.js";
import { CommandList, Outcome } from "../commands.js";
import { Failed, Loading, Text, Time, oneLine, plural } from "../format.js";
import { At, Proof } from "../proof.js";
import { href, useParam } from "../router.js";
import SpanWhy from "./spanwhy.js";

export default function Why({ rest, query }) {
  if (/^([0-9a-f]{32}|[0-9a-f]{16})$/.test(rest)) return html`<${SpanWhy} id=${rest} query=${query} />`;
  return html`<${OfCommand} id=${rest} query=${query} />`;
}

function OfCommand({ id, query }) {
  const asOf = query.get("as_of") ?? "";
  const [limit, setLimit] = useParam("limit", "10");
  const { data, error, reload } = useAsk("/v1/why", id ? { id, limit: Math.min(Math.max(Number(limit) || 10, 1), 1000), ...(asOf && { as_of: asOf }) } : null);
  if (!id) return html`<h1>Why</h1><p class="empty">Nothing is named: <a href=${href("ask", { exit: "fail" })}>choose a failure</a>.</p>`;
  if (error) return html`<h1>Why</h1><${Failed} error=${error} retry=${reload} />`;
  if (!data) return html`<h1>Why</h1><${Loading} what="Following the edges" />`;
  const failed = data.root.exit_code !== undefined && data.root.exit_code !== 0;
  const moment = { as_of: asOf };
  return html`<h1>${failed ? "Why it failed" : "What led to it"}</h1>
    <${CommandList} commands=${[data.root]} label="The command" current=${data.root.id} params=${moment} />
    <div class="links"><a href=${href("command/" + data.root.id, moment)}>Command</a><a href=${href("narrative", { id: data.root.id, ...moment })}>Narrative</a><${At} position=${data.root.position}>Event<//></div>
    ${data.replays && html`<p>Replays ran it ${plural(data.replays.times, "time")}: ${data.replays.worked} succeeded, ${data.replays.failed} failed.</p>`}
    ${data.causes.length === 0 ? html`<p class="empty">Nothing recorded shows what led to it. The <a href=${href("narrative", { id: data.root.id, ...moment })}>narrative</a> shows what ran around it.</p>` : html`
      <h2 id="ranked">${failed ? "Suspects" : "Causes"}, ranked</h2>
      <${Suspects} of=${data} moment=${moment} />
      ${data.causes.length >= Number(limit) && html`<button type="button" onClick=${() => setLimit(String(Number(limit) * 2))}>Show more</button>`}
      <h2>How one led to the other</h2>
      <p class="dim">The command at the top; below each command what led to it.</p>
      <${Tree} of=${data} moment=${moment} />`}
    ${data.fixes.length > 0 && html`<h2 id="fixed">What fixed it</h2>
      <ul class="rows" aria-labelledby="fixed">${data.fixes.map((f) => html`<li key=${f.id}><${Line} c=${f} moment=${moment} /> <span class="dim"><${Text} value=${f.why} max=${400} /> · <${Time} at=${f.time} unknown=${f.time_unknown} /></span></li>`)}</ul>`}
    <${Proof} of=${data} />`;
}

const percent = (x) => Math.round(100 * x) + " %";

/** Suspects is the ranking, each with what speaks for it. */
function Suspects({ of, moment }) {
  return html`<ol class="ranked" aria-labelledby="ranked">${of.causes.map((c, i) => html`<li key=${c.id}>
    <div class="rank"><span class="num">${i + 1}</span><${Measure} value=${c.confidence ?? c.score} label=${c.confidence !== undefined ? "confidence" : "support"} /></div>
    <div class="body"><a data-item href=${href("command/" + c.id, moment)}><${Outcome} of=${c} /> <code><${Text} value=${oneLine(c.command, 240)} max=${260} /></code></a>
      <div class="dim"><${Text} value=${c.why} max=${400} /> · <${Time} at=${c.time} unknown=${c.time_unknown} /> · ${plural(c.depth, "step")} back ${(c.signals ?? []).map((s) => html`<span class="tag">${s}</span> `)}</div></div>
  </li>`)}</ol>`;
}

/** Measure is a number from 0 to 1 as a bar and as text. */
function Measure({ value, label }) {
  return html`<span class="measure" title=${label + " " + percent(value)}><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="6" class="track" /><rect width=${100 * value} height="6" class="part" /></svg><span>${percent(value)}</span><span class="sr"> ${label}</span></span>`;
}

/** Tree hangs each cause below the command that it led to, by the best path. */
function Tree({ of, moment }) {
  const tree = useMemo(() => {
    const all = new Map([[of.root.id, { command: of.root, children: [] }], ...of.causes.map((c) => [c.id, { command: c, children: [] }])]);
    const edges = new Map();
    for (const e of of.edges) {
      const key = e.from + e.to;
      edges.set(key, [...(edges.get(key) ?? []), e]);
    }
    for (const c of of.causes) {
      // The path leads from the root to the cause; commands that are not listed are passed over.
      const above = c.path.slice(0, -1).reverse().find((id) => all.has(id)) ?? of.root.id;
      all.get(above).children.push({ ...all.get(c.id), node: all.get(c.id), edges: edges.get(c.id + above) ?? [] });
    }
    return all.get(of.root.id);
  }, [of]);
  return html`<ul class="tree"><li><${Line} c=${tree.command} moment=${moment} /><${Branch} of=${tree.children} moment=${moment} /></li></ul>`;
}

function Branch({ of, moment }) {
  if (of.length === 0) return null;
  return html`<ul>${of.map((x) => html`<li key=${x.command.id}><${Line} c=${x.command} moment=${moment} />
    ${x.edges.map((e) => html`<${EdgeLine} e=${e} />`)}<${Branch} of=${x.node.children} moment=${moment} /></li>`)}</ul>`;
}

function Line({ c, moment }) {
  return html`<a data-item href=${href("command/" + c.id, moment)}><${Outcome} of=${c} /> <code><${Text} value=${oneLine(c.command, 200)} max=${220} /></code></a>`;
}

/** EdgeLine is one edge with its evidence. */
export function EdgeLine({ e }) {
  return html`<details class="edge"><summary><span class=${"tag edge-" + e.kind}>${e.kind}</span> <span class="dim">${percent(e.weight)} by ${e.rule}</span></summary>
    <ul class="evidence">${e.evidence.map((v) => html`<li><${Text} value=${v.shows} max=${200} />${v.resource && html` <code><${Text} value=${v.resource} max=${200} /></code>`}${v.score ? html` <span class="dim">${v.score.toFixed(2)}</span>` : ""} <${At} position=${v.position} /></li>`)}</ul></details>`;
}
