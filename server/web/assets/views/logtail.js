// logtail.js: the events of a partition of the log from an offset, decoded, and following its end;
// and what was rejected, with the reason.

import { html, useEffect, useRef, useState } from "../dom.js";
import { get, useGet } from "../api.js";
import { Failed, Loading, Text, Time, count, plural, positionText, size, when } from "../format.js";
import { Brief, Field, Form, Heading, word } from "../parts.js";
import { At } from "../proof.js";
import { useRenewal } from "../renewal.js";
import { href, useParam, withParams } from "../router.js";

const page = 100, kept = 1000;

const address = (topic, partition, params) => `/v1/log/${encodeURIComponent(topic)}/${partition}?${new URLSearchParams(params)}`;

/** Events shows a page of events; ?from= says where it begins, without it the newest, which it follows. */
export function Events({ topic, partition, query }) {
  const from = query.get("from") ?? "";
  const start = useGet(address(topic, partition, { limit: page, ...(from && { from }) }));
  const topics = useGet("/v1/log");
  const [tail, add] = useState({ events: [], next: undefined, missed: 0 });
  const [following, follow] = useState(true);
  const busy = useRef(false);
  const first = start.data;
  useEffect(() => { if (first) add({ events: first.events, next: first.next, missed: 0 }); }, [first]);
  const live = useRenewal(async () => {
    if (busy.current || tail.next === undefined) return;
    busy.current = true;
    try {
      const more = await get(address(topic, partition, { from: tail.next, limit: page }));
      // A backlog is not read through: what lies further from the end than a page is counted.
      const skipped = more.end - more.next > page ? more.end - page - more.next : 0;
      const last = skipped > 0 ? await get(address(topic, partition, { from: more.end - page, limit: page })) : more;
      if (last.events.length) add((t) => ({ events: [...t.events, ...last.events].slice(-kept), next: last.next, missed: t.missed + (skipped > 0 ? more.events.length + skipped : 0) }));
    } catch { /* the connection's banner says it */ } finally { busy.current = false; }
  }, [], following && from === "" && !start.error ? 1 : 0); // the log is read before any projection has applied it
  const partitions = topics.data?.topics.find((t) => t.name === topic)?.partitions ?? [];
  if (start.error) return html`<${Heading}>${word(topic)}/${partition}<//><${Failed} error=${start.error} retry=${start.reload} />`;
  const shown = from ? first?.events ?? [] : [...tail.events].reverse();
  return html`<${Heading} live=${live}>${word(topic)}<span class="dim">/${partition}</span><//>
    <p class="links" aria-label="Partitions">${partitions.map((p) => html`<a href=${href(`log/${topic}/${p.partition}`)} aria-current=${p.partition === partition ? "page" : undefined}>${p.partition}</a>`)}${first && html`<span class="dim">${first.end > first.start ? `offsets ${count(first.start)} to ${count(first.end - 1)}, ${plural(first.end - first.start, "event")}` : "no event"}</span>`}</p>
    <${Form} label="Where"><${Field} name="from" label="from offset" placeholder="the newest" size="10" /><${Field} name="find" label="contains" size="20" /><//>
    <p class="links">${from ? html`<a href=${withParams({ from: "" })}>Newest</a>` : html`<button type="button" class="quiet" aria-pressed=${following ? "true" : "false"} onClick=${() => follow(!following)}>${following ? "Following" : "Stopped"}</button>`}
      ${first && first.from > first.start && html`<a href=${withParams({ from: Math.max(first.start, first.from - page) })}>Older</a>`}
      ${first && from && first.next < first.end && html`<a href=${withParams({ from: first.next })}>Newer</a>`}
      ${first && html`<a href=${withParams({ from: first.start })}>First</a>`}</p>
    ${tail.missed > 0 && !from && html`<p class="dim">${count(tail.missed)} events came in too quickly to be listed.</p>`}
    ${!first && html`<${Loading} what="Reading the log" />`}
    ${first && shown.length === 0 && html`<p class="empty">No event here yet.</p>`}
    <${Rows} events=${shown} topic=${topic} partition=${partition} find=${query.get("find") ?? ""} />`;
}

/** text is the payload as text on one line, for lists. */
const text = (e) => (e.erased ? "erased" : e.error ? e.error : e.payload !== undefined ? JSON.stringify(e.payload) : e.payload_base64 ?? "");

function Rows({ events, topic, partition, find }) {
  const [open, setOpen] = useParam("open", "");
  const wanted = find ? events.filter((e) => (text(e) + (e.key ?? "") + (e.type ?? "")).toLowerCase().includes(find.toLowerCase())) : events;
  if (find && events.length > 0 && wanted.length === 0) return html`<p class="empty">None of these ${count(events.length)} events contains it.</p>`;
  return html`<ol class="rows log">${wanted.map((e) => html`<li key=${e.position.offset}>
    <a class="event-row" data-item href=${withParams({ open: open === String(e.position.offset) ? "" : e.position.offset })} aria-expanded=${open === String(e.position.offset) ? "true" : "false"} onClick=${(ev) => { if (ev.metaKey || ev.ctrlKey) return; ev.preventDefault(); setOpen(open === String(e.position.offset) ? "" : String(e.position.offset), true); }}>
      <code class="offset">${e.position.offset}</code><span class="dim"><${Time} at=${e.time ?? e.appended} /></span><span class=${e.error ? "bad" : ""}>${word(e.type ?? "no event")}</span><span class="line"><${Brief} value=${text(e)} max=${400} /></span></a>
    ${open === String(e.position.offset) && html`<${Whole} of=${e} topic=${topic} partition=${partition} />`}</li>`)}</ol>`;
}

/** Whole is an event with its headers, its payload and, on request, its bytes. */
function Whole({ of: e, topic, partition }) {
  const [raw, show] = useState(false);
  return html`<div class="whole">
    <dl class="facts">${e.id && html`<div><dt>id</dt><dd><code>${e.id}</code></dd></div>`}<div><dt>appended</dt><dd>${when(e.appended)}</dd></div>${e.key && html`<div><dt>key</dt><dd><${Text} value=${e.key} max=${300} /></dd></div>`}
      ${e.error && html`<div><dt>no event</dt><dd class="bad"><${Text} value=${e.error} /></dd></div>`}${e.erased && html`<div><dt>erased</dt><dd>by <${At} position=${e.erased.by} /></dd></div>`}
      ${Object.entries(e.headers ?? {}).map(([k, v]) => html`<div><dt><code>${word(k)}</code></dt><dd><${Text} value=${v} max=${300} /></dd></div>`)}</dl>
    ${e.payload !== undefined && html`<pre tabindex="0"><${Text} value=${JSON.stringify(e.payload, null, 2)} max=${6000} /></pre>`}
    <p><button type="button" onClick=${() => show(!raw)} aria-expanded=${raw ? "true" : "false"}>Bytes</button> <a href=${href(`log/${topic}/${partition}`, { from: e.position.offset, open: e.position.offset })}>link to this event</a></p>
    ${raw && html`<${Bytes} topic=${topic} partition=${partition} offset=${e.position.offset} />`}</div>`;
}

const mostBytes = 4096;

/** Bytes shows the value of a record as it lies in the log. */
function Bytes({ topic, partition, offset }) {
  const { data, error } = useGet(address(topic, partition, { from: offset, limit: 1, raw: true }));
  if (error) return html`<${Failed} error=${error} />`;
  if (!data) return html`<${Loading} />`;
  const raw = Uint8Array.from(atob(data.events[0]?.raw ?? ""), (c) => c.charCodeAt(0));
  return html`<p class="dim">${size(raw.length)}${raw.length > mostBytes && html`, the first ${size(mostBytes)}`}</p><pre class="hex" tabindex="0">${hex(raw.subarray(0, mostBytes))}</pre>`;
}

/** hex writes bytes sixteen a line, with the characters that print. */
export function hex(bytes) {
  const out = [];
  for (let i = 0; i < bytes.length; i += 16) {
    const part = [...bytes.subarray(i, i + 16)];
    out.push(i.toString(16).padStart(6, "0") + "  " + part.map((b) => b.toString(16).padStart(2, "0")).join(" ").padEnd(48) + " " + part.map((b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : ".")).join(""));
  }
  return out.join("\n");
}

/** Rejected lists the newest rejected events of every partition. */
export function Rejected() {
  const topics = useGet("/v1/log");
  const topic = topics.data?.topics.find((t) => /(^|\.)rejected$/.test(t.name));
  return html`<${Heading}>Rejected<//><p>Events that can never be applied, each with the reason. Nothing is lost: the event is where it was appended.</p>
    ${topics.error && html`<${Failed} error=${topics.error} retry=${topics.reload} />`}
    ${topics.data && (!topic || topic.partitions.every((p) => p.end === p.start)) && html`<p class="empty">No event was rejected.</p>`}
    ${(topic?.partitions ?? []).filter((p) => p.end > p.start).map((p) => html`<${RejectedOf} key=${p.partition} topic=${topic.name} partition=${p.partition} />`)}`;
}

function RejectedOf({ topic, partition }) {
  const { data, error, reload } = useGet(address(topic, partition, { limit: 50 }));
  useRenewal(reload, [], error ? 0 : 5);
  if (error) return html`<${Failed} error=${error} retry=${reload} />`;
  if (!data) return html`<${Loading} />`;
  return html`<ol class="rows">${[...data.events].reverse().map((e) => html`<li key=${e.position.offset}><span class="bad"><${Text} value=${e.payload?.reason ?? e.error ?? "erased"} max=${400} /></span>
    <div class="dim">${e.payload?.by && html`by ${word(e.payload.by)}, `}<${Time} at=${e.time ?? e.appended} />, event ${e.payload?.position && html`<${At} position=${whole(e.payload.position)} />`}, recorded as <${At} position=${e.position} /></div></li>`)}</ol>
    ${data.from > data.start && html`<p><a href=${href(`log/${topic}/${partition}`, { from: Math.max(data.start, data.from - 50) })}>Older</a></p>`}`;
}

/** whole fills in what the JSON of protobuf leaves out: zeros. */
const whole = (p) => positionText({ topic: p.topic, partition: p.partition ?? 0, offset: Number(p.offset ?? 0) });

