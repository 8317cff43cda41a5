// stale.js: what seems to be out of date in the code.

import { html } from "../dom.js";
import { useAsk } from "../api.js";
import { Text, count } from "../format.js";
import { Answer, Choice, Field, Form, Heading, Revision, Symbol, Table, percent, word } from "../parts.js";
import { useParam } from "../router.js";
import { begin } from "./code.js";

const kinds = { gone: "refer to what was removed", doc: "documentation of what was removed", unused: "unused", aged: "unchanged though what they call changed" };

export default function Stale({ query }) {
  const repo = query.get("repo") ?? "", at = query.get("at") ?? "", path = query.get("path") ?? "", since = query.get("since") ?? "";
  const [kind, setKind] = useParam("kind", ""), [sure] = useParam("sure", "");
  const answer = useAsk("/v1/code/stale", { limit: 2000, ...(repo && { repo }), ...(at && { at }), ...(path && { path }), ...(since && { since }), ...(sure && { min_confidence: Number(sure) }) });
  return html`<${Heading}>Stale<//>
    <${Form} label="What to look at"><${Field} name="repo" label="repository" /><${Field} name="at" label="revision" placeholder="HEAD" /><${Field} name="since" label="compared with" placeholder="90 days before" /><${Field} name="path" label="below" placeholder="pkg/" />
      <${Choice} name="sure" label="at least" options=${[["", "50%"], ["0.7", "70%"], ["0.9", "90%"]]} /><//>
    <${Answer} of=${answer} none=${begin} what="Comparing two graphs; for a large repository this takes a while">${(d) => html`<p><${Revision} of=${d.revision} /></p>${d.base && html`<p><span class="dim">compared with</span> <${Revision} of=${d.base} /></p>`}
      <p class="links">${Object.entries(kinds).map(([k, n]) => html`<button type="button" class="quiet" aria-pressed=${kind === k ? "true" : "false"} disabled=${!d.counts[k]} onClick=${() => setKind(kind === k ? "" : k)}>${count(d.counts[k] ?? 0)} ${n}</button>`)}</p>
      ${d.findings.length === 0 ? html`<p class="empty">Nothing seems out of date.</p>` : html`<${Table} label="Findings" sort="by" rows=${d.findings.filter((f) => !kind || f.finding === kind)} keyOf=${(f) => f.finding + f.file + f.name + f.site + (f.of ?? "")} columns=${[
        { name: "finding", of: (f) => html`<span class="tag">${f.finding}</span>`, by: (f) => f.finding },
        { name: "symbol", of: (f) => html`<${Symbol} of=${f} rev=${at} />`, by: (f) => f.name },
        { name: "why", of: (f) => html`<${Text} value=${f.why} max=${240} />${f.of && html` <code>${word(f.of)}</code>`}` },
        { name: "evidence", of: (f) => html`<code class="dim">${word(f.site)}</code>` },
        { name: "sure", num: true, of: (f) => percent(f.confidence), by: (f) => f.confidence },
      ]} />`}
      ${d.truncated > 0 && html`<p class="dim">${count(d.truncated)} more.</p>`}`}<//>`;
}
