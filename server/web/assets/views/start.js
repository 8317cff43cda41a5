// start.js: the start page: what is new, and what failed last. An empty log says how to begin.

import { html, useState } from "../dom.js";
import { useAsk, useGet } from "../api.js";
import { CommandList } from "../commands.js";
import { Failed, Loading, Time, count, plural } from "../format.js";
import { useLive } from "../live.js";
import { Answer, Brief, useWorkspace, word } from "../parts.js";
import { At, Proof } from "../proof.js";
import { useRenewal } from "../renewal.js";
import { href } from "../router.js";

const shown = 15;

export default function Start() {
  const { workspace, choice } = useWorkspace();
  const filters = workspace ? { workspace } : {};
  const fresh = useAsk("/v1/find", { limit: shown, repeats: true, filters });
  const failed = useAsk("/v1/find", { limit: shown, filters: { ...filters, exit: "fail" } });
  const { data: status } = useGet("/v1/status");
  useRenewal(failed.reload, ["commands"], fresh.error ? 0 : 15);
  const [arrived, add] = useState([]);
  const [missed, miss] = useState(0);
  const [following, follow] = useState(true);
  useRenewal(fresh.reload, ["commands"], following || fresh.error ? 0 : 15);
  useLive(following ? filters : null, (batch, left) => {
    add((old) => [...batch.reverse(), ...old].slice(0, shown));
    miss((n) => n + left);
  }, () => follow(false));
  if (fresh.error?.status === 403) return html`<${Agents} />`;
  if (fresh.error) return html`<h1>Start</h1><${Failed} error=${fresh.error} retry=${fresh.reload} />`;
  if (!fresh.data) return html`<h1>Start</h1><${Loading} />`;
  const known = new Set(arrived.map((c) => c.id));
  const newest = [...arrived, ...fresh.data.hits.filter((c) => !known.has(c.id))].slice(0, shown);
  if (newest.length === 0) return html`${choice}<${Begin} />`;
  return html`<h1 class="sr">Start</h1>${choice}
    <div class="columns">
      <section aria-labelledby="new"><h2 id="new">New ${following && html`<span class="dim live">live</span>`}</h2>
        ${missed > 0 && html`<p class="dim">${count(missed)} more came in too quickly to be listed here.</p>`}
        <${CommandList} commands=${newest} label="New commands" /><${Proof} of=${fresh.data} /></section>
      <section aria-labelledby="failed"><h2 id="failed">Failed last</h2>
        ${failed.error && html`<${Failed} error=${failed.error} retry=${failed.reload} />`}
        ${failed.data && (failed.data.hits.length === 0 ? html`<p class="empty">Nothing failed.</p>` :
          html`<${CommandList} commands=${failed.data.hits} label="Failed commands" /><${Proof} of=${failed.data} />`)}
      </section>
    </div>
    <${Sessions} />
    ${status && html`<p class="dim">${count(status.intents.count)} commands${status.intents.oldest && html` since <${Time} at=${status.intents.oldest} absolute />`}${status.log.rejected > 0 && html`, ${count(status.log.rejected)} events rejected`}.</p>`}`;
}

/** Sessions are the newest sessions of people and agents. */
function Sessions() {
  const newest = useGet("/v1/sessions?limit=8");
  useRenewal(newest.reload, ["commands", "agents"], newest.error ? 0 : 30);
  if (!newest.data?.sessions.length) return null;
  const open = (s) => (s.objects ? href("agents/sessions", { session: s.session, agent: s.author, workspace: s.workspace }) : href("narrative", { session: s.session }));
  return html`<section aria-labelledby="sessions"><h2 id="sessions">Sessions <span class="dim">${count(newest.data.total)}</span></h2>
    <ol class="rows">${newest.data.sessions.map((s) => html`<li key=${[s.tenant, s.host, s.author, s.session].join("\n")}>
      <a data-item href=${open(s)}><${Brief} value=${s.about || s.session} max=${140} /></a>
      <div class="dim">${s.author && html`<span class="tag">${word(s.author, 40)}</span> `}session ${word(s.session, 24)}: ${[s.commands > 0 && plural(s.commands, "command"), s.objects > 0 && plural(s.objects, "step")].filter(Boolean).join(", ")}, <${Time} at=${s.last} /></div></li>`)}</ol></section>`;
}

/** Agents is the start page of who may not see commands: what its agents said last. */
function Agents() {
  const newest = useAsk("/v1/query", { mode: "objects", limit: shown });
  return html`<h1 class="sr">Start</h1><h2>What agents said and did last</h2>
    <${Answer} of=${newest} isEmpty=${(d) => d.objects.length === 0} empty="Nothing yet that you may see.">${(d) => html`<ol class="rows">${d.objects.map((o) => html`<li key=${o.id}>
      <a data-item href=${href("agents/" + o.id)}><${Brief} value=${o.title || o.snippet || o.id} max=${240} /></a>
      <div class="dim">${[o.type, o.agent].filter(Boolean).map((x) => html`<span class="tag">${word(x, 80)}</span> `)}<${Time} at=${o.time} /> <${At} position=${o.position} /></div></li>`)}</ol>`}<//>`;
}

/** Begin is the start page of an empty log. */
function Begin() {
  return html`<h1>The log is empty</h1>
    <p>Recount answers from what is recorded. To begin:</p>
    <ol class="rows">
      <li>Record what your shell runs: <code>eval "$(recount hook bash)"</code> in your shell's startup file (zsh and fish too), then open a new shell.</li>
      <li>Or take in what there is: <code>recount import history</code>, <code>recount import git .</code>, <code>recount import agents</code>.</li>
      <li>Or record one command here: <code>recount exec -- make test</code></li>
    </ol>
    <p class="dim">What comes in appears on this page by itself.</p>`;
}
