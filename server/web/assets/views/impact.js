// impact.js: what a change can reach, as a graph folded by package and as a table, at one revision
// or at two, side by side.

import { html, useMemo, useRef } from "../dom.js";
import { useAsk } from "../api.js";
import { Failed, Loading, Text, count, plural } from "../format.js";
import { Graph } from "../graphview.js";
import { compared, impactGraph } from "../impact.js";
import { useKey } from "../keys.js";
import { Announced, Answer, Choice, Field, Form, Heading, Revision, Symbol, Table, percent, word } from "../parts.js";
import { Proof } from "../proof.js";
import { useParam } from "../router.js";
import { Unnamed, begin } from "./code.js";

const most = 10000;

export default function Impact({ query }) {
  const name = query.get("name") ?? "", change = query.get("diff") ?? "", repo = query.get("repo") ?? "";
  const [at] = useParam("at", ""), [base] = useParam("base", ""), [depth] = useParam("depth", ""), [sure] = useParam("sure", "");
  const [show, setShow] = useParam("show", "graph"), [tests] = useParam("tests", "");
  const body = (rev) => (name || change ? {
    ...(change && !name ? { diff: change } : { symbol: name }), limit: most,
    ...(repo && { repo }), ...(rev && { at: rev }), ...(Number(depth) > 0 && { depth: Number(depth) }), ...(Number(sure) > 0 && { min_confidence: Number(sure) }),
  } : null);
  const now = useAsk("/v1/code/impact", body(at));
  const was = useAsk("/v1/code/impact", base && name ? body(base) : null);
  useKey("t", "graph or table", () => setShow(show === "graph" ? "table" : "graph"));
  const options = { tests: tests === "with" };
  const graph = useMemo(() => now.data && impactGraph(now.data, options), [now.data, tests]);
  const both = useMemo(() => was.data && graph && compared(impactGraph(was.data, options), graph), [was.data, graph]);
  const d = now.data;
  return html`<${Heading}>Impact${name && html` of <code>${word(name)}</code>`}${!name && change && html` of <code>${word(change)}</code>`}<//>
    <${Form} label="What changes">
      <${Field} name="name" label="symbol" size="28" /><${Field} name="diff" label="or change" placeholder="main~3..main" /><${Field} name="repo" label="repository" />
      <${Field} name="at" label="revision" placeholder="HEAD" /><${Field} name="base" label="compare with" placeholder="HEAD~10" />
      <${Choice} name="depth" label="distance" options=${[["", "any"], ["1", "1"], ["2", "2"], ["3", "3"], ["5", "5"]]} />
      <${Choice} name="sure" label="at least" options=${[["", "any"], ["0.5", "50%"], ["0.8", "80%"], ["0.95", "95%"]]} />
      <${Choice} name="tests" label="tests" options=${[["", "apart"], ["with", "in the graph"]]} />
      <${Choice} name="show" label="as" options=${[["graph", "graph"], ["table", "table"]]} /><//>
    ${!name && !change && html`<${Unnamed}>Name the symbol that changes, or a change between two revisions.<//>`}
    ${now.error && html`<${Answer} of=${now} none=${begin} />`}
    ${was.error && html`<h2>At ${word(base)}</h2><${Failed} error=${was.error} retry=${was.reload} />`}
    ${!d && now.loading && html`<${Loading} />`}
    ${d && graph && html`
      <p>${plural(d.total, "symbol")} in ${plural(d.groups.length, "package")}, ${plural(d.test_count, "test")}${d.document_count > 0 && html`, ${plural(d.document_count, "document")}`}${d.truncated > 0 && html` <span class="warn">(${count(d.truncated)} not shown)</span>`}
        ${both && html`; <span class="good">${count(both.fresh.length)} reached only here</span>, <span class="bad">${count(both.gone.length)} only at ${word(base)}</span>`}</p>
      ${d.hint && html`<p class="dim"><${Text} value=${d.hint} /></p>`}
      <${Announced} of=${d.announced} />
      ${both ? html`<${Sides} both=${both} now=${d} was=${was.data} show=${show} />` : html`<${Side} graph=${graph} answer=${d} show=${show} />`}
      <${Proof} of=${d} />`}`;
}

const readable = 60; // symbols up to which all packages are open at first

/** useOpen keeps the open packages in the address: "none" if a small graph is folded. */
function useOpen({ nodes }) {
  const [text, set] = useParam("open", "");
  const open = useMemo(() => new Set(text === "none" ? [] : text ? text.split(",") : nodes.length <= readable ? nodes.map((n) => n.group) : []), [text, nodes]);
  return [open, (next) => set(next.size > 0 ? [...next].join(",") : nodes.length <= readable ? "none" : "", true)];
}

function Side({ graph, answer, show }) {
  const [open, setOpen] = useOpen(graph);
  const [chosen, choose] = useParam("sel", "");
  const item = graph.nodes.find((n) => n.id === chosen);
  const box = item ? undefined : chosen.replace(/^group:/, "");
  if (graph.nodes.length <= answer.changed.length) return html`<p class="empty">Nothing that is known uses it.</p>`;
  return html`<p><${Revision} of=${answer.revision} /></p>
    ${show === "table" ? html`<${Rows} nodes=${graph.nodes} rev=${answer.revision.commit} />` : html`<div class="beside">
      <${Graph} graph=${graph} label="Impact by package" open=${open} setOpen=${setOpen} selected=${chosen || undefined} height="tall"
        onSelect=${(i) => choose(i?.id ?? "", true)} legend=${[["mark", "what changes"]]} />
      <aside aria-label="Chosen">${item ? html`<${Chosen} node=${item} graph=${graph} rev=${answer.revision.commit} />` : html`<${Package} group=${box} graph=${graph} rev=${answer.revision.commit} />`}</aside></div>`}`;
}

/** Chosen is one symbol of the graph: how the change gets to it, and on from it. */
function Chosen({ node, graph, rev }) {
  const byID = useMemo(() => new Map(graph.nodes.map((n) => [n.id, n])), [graph]);
  const way = [];
  for (let at = node, guard = 0; at && guard < 64; guard++) {
    const edge = graph.edges.find((e) => e.to === at.id);
    way.push({ node: at, edge });
    at = edge && byID.get(edge.from);
  }
  const on = graph.edges.filter((e) => e.from === node.id).map((e) => byID.get(e.to));
  return html`<h2><${Symbol} of=${node.symbol} rev=${rev} /></h2>
    <h3>How the change gets there</h3><ol class="rows">${way.map((w) => html`<li><${Symbol} of=${w.node.symbol} rev=${rev} place=${false} /> ${w.edge && html`<span class="dim">${w.edge.kind}, ${percent(w.edge.confidence)} sure <code>${word(w.edge.site ?? "")}</code></span>`}</li>`)}</ol>
    ${on.length > 0 && html`<h3>On from here <span class="dim">${count(on.length)}</span></h3><ol class="rows">${on.slice(0, 40).map((n) => html`<li><${Symbol} of=${n.symbol} rev=${rev} place=${false} /></li>`)}</ol>`}`;
}

/** Package lists the symbols of a package of the graph; without one, the packages. */
function Package({ group, graph, rev }) {
  const groups = useMemo(() => {
    const by = new Map();
    for (const n of graph.nodes) by.set(n.group, (by.get(n.group) ?? 0) + 1);
    return [...by].sort((a, b) => b[1] - a[1]);
  }, [graph]);
  const [, choose] = useParam("sel", "");
  if (!group) {
    return html`<h2>Packages</h2><ol class="rows">${groups.slice(0, 200).map(([g, n]) => html`<li key=${g}><button type="button" class="quiet plain" data-item onClick=${() => choose("group:" + g)}>${word(g)}</button> <span class="dim">${count(n)}</span></li>`)}</ol>`;
  }
  const nodes = graph.nodes.filter((n) => n.group === group).sort((a, b) => a.rank - b.rank);
  return html`<h2>${word(group)} <span class="dim">${count(nodes.length)}</span></h2><p><button type="button" class="quiet plain" onClick=${() => choose("")}>all packages</button></p>
    <ol class="rows">${nodes.slice(0, 200).map((n) => html`<li key=${n.id}><${Symbol} of=${n.symbol} rev=${rev} place=${false} /> <span class="dim">${n.rank ? plural(n.rank, "step") : "changes"}</span></li>`)}</ol>`;
}

function Rows({ nodes, rev }) {
  return html`<${Table} label="What the change reaches" sort="by" rows=${nodes} keyOf=${(n) => n.id} columns=${[
    { name: "symbol", of: (n) => html`<${Symbol} of=${n.symbol} rev=${rev} />`, by: (n) => n.symbol.name },
    { name: "package", of: (n) => word(n.group), by: (n) => n.group },
    { name: "steps", num: true, of: (n) => n.rank, by: (n) => n.rank },
    { name: "by way of", of: (n) => (n.symbol.via ? html`<code>${word(n.symbol.via)}</code> <span class="dim">${n.symbol.edge}</span>` : html`<span class="dim">it changes</span>`) },
    { name: "site", of: (n) => html`<code class="dim">${word(n.symbol.site ?? "")}</code>` },
    { name: "sure", num: true, of: (n) => percent(n.symbol.confidence ?? 1), by: (n) => n.symbol.confidence ?? 1 },
  ]} />`;
}

/** Sides is the same at two revisions: what is in both stands at the same place. */
function Sides({ both, now, was, show }) {
  const together = useRef({ members: [] });
  const [open, setOpen] = useOpen(both.union);
  const [chosen, choose] = useParam("sel", "");
  if (show === "table") {
    return html`<h2>Reached only now <span class="dim">${count(both.fresh.length)}</span></h2><${Rows} nodes=${both.fresh} rev=${now.revision.commit} />
      <h2>Reached no more <span class="dim">${count(both.gone.length)}</span></h2><${Rows} nodes=${both.gone} rev=${was.revision.commit} />`;
  }
  const side = (graph, answer, label, legend) => html`<section aria-label=${label}><h2>${label}</h2><p><${Revision} of=${answer.revision} /></p>
    <p class="dim">${plural(answer.total, "symbol")} in ${plural(answer.groups.length, "package")}</p>
    <${Graph} graph=${graph} places=${both.union} label=${label} open=${open} setOpen=${setOpen} selected=${chosen || undefined} onSelect=${(i) => choose(i?.id ?? "", true)} together=${together} legend=${legend} /></section>`;
  const differs = (title, nodes, rev) => nodes.length > 0 && html`<section aria-label=${title}><h2>${title} <span class="dim">${count(nodes.length)}</span></h2><ol class="rows">${nodes.slice(0, 30).map((n) => html`<li key=${n.id}><${Symbol} of=${n.symbol} rev=${rev} /></li>`)}</ol>${nodes.length > 30 && html`<p class="dim">${count(nodes.length - 30)} more; the table has all.</p>`}</section>`;
  return html`<div class="columns">${differs("Reached no more", both.gone, was.revision.commit)}${differs("Reached only now", both.fresh, now.revision.commit)}</div>
    ${both.gone.length + both.fresh.length === 0 && html`<p>It reaches the same symbols at both.</p>`}
    <div class="columns">${side(both.before, was, "Before", [["bad", "reached no more"]])}${side(both.after, now, "Now", [["good", "reached only now"]])}</div>`;
}

