// shell.js: what is around every view: the header with the one box, the banner of a server that is
// away, the login, the list of keys, and the event of the proof.

import { html, useEffect, useRef, useState } from "./dom.js";
import { clockSkew, login, logout, useConnection, useGet } from "./api.js";
import { Failed } from "./format.js";
import { KeyList, move, useKey } from "./keys.js";
import { EventDialog } from "./proof.js";
import { go, href, useLocation, withParams } from "./router.js";

/**
 * Shell draws the page around a view.
 * @param {{nav: {view: string, name: string, key?: string}[], children: any}} props
 */
export function Shell({ nav, children }) {
  const connection = useConnection();
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <${Header} nav=${nav} />
    <${Banner} />
    <main id="main" tabindex="-1">${connection === "login" ? html`<${Login} />` : children}</main>
    <div id="announced" class="sr" role="status" aria-live="polite"></div>
    ${connection !== "login" && html`<${EventDialog} />`}
    <${Keys} nav=${nav} />`;
}

function skip(e) {
  e.preventDefault();
  document.getElementById("main").focus();
}

function Header({ nav }) {
  const { view } = useLocation();
  return html`<header class="top">
    <a class="word" href="/">Recount</a>
    <${Box} />
    <nav aria-label="Views">${nav.map((n) => html`<a href=${href(n.view)} aria-current=${n.view === view ? "page" : undefined}>${n.name}</a>`)}</nav>
    <span class="tools"><${ThemeSwitch} /><${Who} /></span>
  </header>`;
}

/** Box is the one box. On the view Ask it follows what is typed; elsewhere enter leads there. */
function Box() {
  const { view, query } = useLocation();
  const here = view === "ask" ? query.get("q") ?? "" : "";
  const [text, set] = useState(here);
  const input = useRef(null), timer = useRef(0);
  useEffect(() => { if (document.activeElement !== input.current) set(here); }, [here]);
  useKey("/", "ask", () => { input.current.focus(); input.current.select(); });
  const show = (q, replace) => {
    clearTimeout(timer.current);
    go(view === "ask" ? withParams({ q }) : href("ask", { q }), { replace });
  };
  const typed = (e) => {
    const q = e.target.value;
    set(q);
    clearTimeout(timer.current);
    if (view === "ask") timer.current = setTimeout(() => show(q, true), 150);
  };
  return html`<form class="box" role="search" onSubmit=${(e) => { e.preventDefault(); show(text, view === "ask"); }}>
    <label class="sr" for="ask">Ask commands, code, spans and agents</label>
    <input id="ask" ref=${input} type="search" name="q" value=${text} onInput=${typed} placeholder="Ask: commands, code, spans, agents  ( / )" autocomplete="off" spellcheck="false" maxlength="4096"
      onKeyDown=${(e) => { if (e.key === "Escape") e.target.blur(); if (e.key === "ArrowDown") { e.preventDefault(); move(1); } }} />
  </form>`;
}

function ThemeSwitch() {
  const [theme, set] = useState(document.documentElement.dataset.theme ?? "auto");
  const next = { auto: "light", light: "dark", dark: "auto" }[theme];
  const choose = () => {
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try { localStorage.setItem("recount.theme", next); } catch { /* it lasts as long as the page */ }
    set(next);
  };
  return html`<button type="button" class="quiet" onClick=${choose} title=${`Theme: ${theme}`} aria-label=${`Theme: ${theme}. Change to ${next}`}>${{ auto: "◐", light: "☀", dark: "☾" }[theme]}</button>`;
}

/** Who says as whom one is logged in. It asks now and then, so that a token that ended is noticed. */
function Who() {
  const connection = useConnection();
  const { data, reload } = useGet(connection === "up" ? "/session" : null);
  useEffect(() => {
    const look = () => document.visibilityState === "visible" && reload();
    const timer = setInterval(look, 30000);
    document.addEventListener("visibilitychange", look);
    return () => { clearInterval(timer); document.removeEventListener("visibilitychange", look); };
  }, []);
  if (!data?.login || connection === "login") return null;
  const name = data.operator ? "operator" : data.agent || data.tenant || "token";
  return html`<span class="dim" title=${(data.grants ?? []).join(", ")}>${name}</span><button type="button" class="quiet" onClick=${() => logout().catch(() => {})}>Log out</button>`;
}

function Banner() {
  const connection = useConnection();
  const skew = clockSkew();
  return html`<div role="status" aria-live="polite">
    ${connection === "away" && html`<p class="banner bad">The server does not answer. This page asks again until it does; what is shown is from before.</p>`}
    ${connection === "up" && Math.abs(skew) > 60000 && html`<p class="banner">The clock of this machine is ${hours(Math.abs(skew))} ${skew < 0 ? "ahead of" : "behind"} the server's. Ages are by the server's clock.</p>`}
  </div>`;
}

function hours(ms) {
  const minutes = Math.round(ms / 60000);
  return minutes < 90 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}

function Login() {
  const [error, fail] = useState(null);
  const [busy, wait] = useState(false);
  const input = useRef(null);
  useEffect(() => input.current.focus(), []);
  const submit = async (e) => {
    e.preventDefault();
    wait(true);
    fail(null);
    try { await login(input.current.value.trim()); } catch (err) { fail(err); wait(false); input.current.select(); }
  };
  return html`<form class="login" onSubmit=${submit}>
    <h1>Log in</h1>
    <p class="dim">This server asks for a token: its own, or one that <code>recount token new</code> made.</p>
    <label for="token">Token</label>
    <input id="token" ref=${input} type="password" name="token" autocomplete="current-password" required placeholder="rct_…" aria-describedby="login-failed" />
    <button type="submit" class="primary" disabled=${busy}>Log in</button>
    <div id="login-failed">${error && html`<${Failed} error=${error} />`}</div>
  </form>`;
}

function Keys({ nav }) {
  const [open, set] = useState(false);
  const dialog = useRef(null);
  useEffect(() => { if (open) dialog.current.showModal(); }, [open]);
  useKey("?", "show the keys", () => set(true));
  useKey("j", "the next item", () => move(1));
  useKey("k", "the item before", () => move(-1));
  useKey("g", "to the start page", () => go("/"));
  return html`<dialog ref=${dialog} aria-labelledby="keys-title" onClose=${() => set(false)}>
    <div class="dialog-body"><header><h2 id="keys-title">Keys</h2><button type="button" aria-label="Close" onClick=${() => dialog.current.close()}>✕</button></header>${open && html`<${KeyList} />`}</div>
  </dialog>
  <footer class="foot"><button type="button" class="quiet" onClick=${() => set(true)}>Keys <kbd>?</kbd></button> <a href="/docs">API</a></footer>`;
}
