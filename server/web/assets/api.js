// api.js: asking the server.
//
//   await ask("/v1/find", {text})        POST with JSON, answers JSON; throws ApiError
//   await get("/v1/status")              GET
//   useAsk("/v1/find", {text}, [deps])   {data, error, loading, reload}: asks again when path or
//                                        body change and when the server comes back; body null
//                                        asks nothing. Keeps the last data while it loads.
//   useGet("/v1/intents/ID")             the same with GET; path null asks nothing
//   read(path, {accept, signal, lastId}) the Response of a stream (live.js, NDJSON)
//   useConnection()                      "up", "away" (the server does not answer) or "login"
//
// A request of a component that is gone is aborted. 401 leads to the login form and then back to
// what was shown. A server that does not answer is asked again, at first after a second.

import { useEffect, useReducer, useRef } from "./dom.js";

/** ApiError is a problem that the server answered with (RFC 9457), or why there was no answer. */
export class ApiError extends Error {
  /**
   * @param {number} status 0 if there was no answer
   * @param {{title?: string, detail?: string, type?: string, errors?: {location?: string, message?: string, value?: unknown}[]}} problem
   * @param {number} [passes] seconds after which to ask again, if the server says that it passes by itself
   */
  constructor(status, problem, passes = 0) {
    super(problem.detail || problem.title || "HTTP " + status);
    this.status = status;
    this.problem = problem;
    this.passes = passes;
  }
}

const keyName = "recount.session";

/** sessionKey is the half of a session that belongs to this origin alone; the cookie is the other. */
function sessionKey() {
  try { return localStorage.getItem(keyName) ?? ""; } catch { return ""; }
}

let state = "up";
let epoch = 0; // grows when the server came back or somebody logged in: what is shown is asked again
let skew = 0; // the server's clock less ours, in milliseconds
const listeners = new Set();

function become(next) {
  if (state === next) return;
  if (next === "up") epoch++;
  if (next === "away") lookOut();
  state = next;
  for (const tell of [...listeners]) tell();
}

/** serverNow is the server's clock, as its last answer told. */
export const serverNow = () => Date.now() + skew;
/** clockSkew is by how many milliseconds the server's clock is ahead of this machine's. */
export const clockSkew = () => skew;

let slow = 0; // milliseconds that answers take of late
/** answerTime is how many milliseconds answers take of late: who asks again by itself heeds it. */
export const answerTime = () => slow;

/** useConnection redraws a component when the connection changes. */
export function useConnection() {
  const [, redraw] = useReducer((n) => n + 1, 0);
  useEffect(() => { listeners.add(redraw); return () => listeners.delete(redraw); }, []);
  return state;
}

/** lookOut asks the probe until the server answers. */
async function lookOut() {
  for (let wait = 1000; ; wait = Math.min(wait * 1.5, 10000)) {
    await new Promise((r) => setTimeout(r, wait));
    try {
      if ((await fetch("/healthz", { cache: "no-store" })).ok) return become("up");
    } catch { /* still away */ }
  }
}

/**
 * read sends a request and returns a good response.
 * @param {string} path
 * @param {{method?: string, body?: string, accept?: string, signal?: AbortSignal, lastId?: string}} [o]
 * @returns {Promise<Response>}
 */
export async function read(path, o = {}) {
  const headers = { Accept: o.accept ?? "application/json" };
  if (o.body !== undefined) headers["Content-Type"] = "application/json";
  if (o.lastId) headers["Last-Event-ID"] = o.lastId;
  const key = sessionKey();
  if (key) headers["Recount-Session-Key"] = key;
  const asked = performance.now();
  let response;
  try {
    response = await fetch(path, { method: o.method ?? "GET", body: o.body, headers, signal: o.signal, redirect: "error" });
  } catch (err) {
    if (err.name === "AbortError") throw err;
    become("away");
    throw new ApiError(0, { detail: "the server does not answer" });
  }
  if (o.accept !== "text/event-stream") slow = Math.max(slow * 0.8, performance.now() - asked);
  const date = Date.parse(response.headers.get("Date") ?? "");
  if (!isNaN(date)) {
    const seen = date + 500 - Date.now(); // Date has no fractions
    const next = Math.abs(seen) < 2000 ? 0 : seen;
    if (Math.abs(next - skew) > 2000) {
      skew = next;
      for (const tell of [...listeners]) tell();
    }
  }
  if (response.ok) {
    if (state === "away") become("up");
    return response;
  }
  let problem = { title: response.statusText };
  try { problem = await response.json(); } catch { /* no problem+json: the status says it */ }
  if (response.status === 401 && path !== "/login") become("login");
  throw new ApiError(response.status, problem, Number(response.headers.get("Retry-After")) || 0);
}

/** check finds out whether the server answers, after something else failed. */
export function check() {
  read("/healthz").catch(() => {});
}

/** get asks with GET. */
export async function get(path, signal) {
  return (await read(path, { signal })).json();
}

/** ask asks a question, with POST. */
export async function ask(path, body, signal) {
  return (await read(path, { method: "POST", body: JSON.stringify(body), signal })).json();
}

/** login exchanges a token for a session. */
export async function login(token) {
  const { key } = await ask("/login", { token });
  try { localStorage.setItem(keyName, key); } catch {
    throw new ApiError(0, { detail: "this browser keeps nothing for the page: allow it to store data of this address" });
  }
  become("up");
}

/** logout ends the session. */
export async function logout() {
  await read("/logout", { method: "POST" });
  try { localStorage.removeItem(keyName); } catch { /* nothing was kept */ }
  become("login");
}

/**
 * useAnswer keeps the state of a request for a component.
 * @param {string} key what the answer depends on; null asks nothing
 * @param {(signal: AbortSignal) => Promise<any>} request
 */
function useAnswer(key, request) {
  useConnection();
  const [, redraw] = useReducer((n) => n + 1, 0);
  const answer = useRef({ data: undefined, error: undefined, loading: false, again: 0 });
  const a = answer.current;
  const wanted = key !== null;
  // A question that is under way is answered first, then asked again: what comes in faster than
  // answers would else abort each of them.
  const reload = () => { if (a.loading && wanted) a.after = true; else { a.again++; redraw(); } };
  if (wanted && a.key !== key) Object.assign(a, { key, loading: true, error: undefined, after: false });
  useEffect(() => {
    if (!wanted) {
      Object.assign(a, { key: null, data: undefined, error: undefined, loading: false });
      redraw();
      return undefined;
    }
    const abort = new AbortController();
    let timer = 0;
    const done = (what) => {
      if (abort.signal.aborted) return;
      if (a.after) a.again++;
      Object.assign(a, what, { loading: false, after: false });
      redraw();
    };
    a.loading = true;
    request(abort.signal).then((data) => done({ data, of: key, error: undefined }), (error) => {
      if (error.name === "AbortError") return;
      // Without a server, what was answered before stays; the banner says that it is from before.
      done(error.status === 0 && a.of === key && a.data !== undefined ? {} : { data: undefined, error });
      if (error.passes && !abort.signal.aborted) timer = setTimeout(reload, error.passes * 1000);
    });
    return () => { abort.abort(); clearTimeout(timer); };
  }, [key, epoch, a.again]);
  return { data: a.data, error: a.error, loading: a.loading && wanted, reload };
}

/** useAsk asks a question with POST; see above. */
export function useAsk(path, body) {
  const text = body === null ? null : JSON.stringify(body);
  return useAnswer(text === null ? null : path + " " + text, (signal) => read(path, { method: "POST", body: text, signal }).then((r) => r.json()));
}

/** useGet asks with GET; see above. */
export function useGet(path) {
  return useAnswer(path, (signal) => get(path, signal));
}
